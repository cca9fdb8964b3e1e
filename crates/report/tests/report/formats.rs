//! Every format of one troubled run, and of two runs side by side, as kept snapshots.

use agon_report::{Format, Look, RunReport, Screen, document_schema, render};
use insta::assert_snapshot;

use crate::fixture::{games, graded, manifest, task, troubled};

fn one(format: Format) -> String {
    let (manifest, lines) = troubled();
    let run = RunReport::new(&manifest, &lines).unwrap();
    render(format, &[run]).unwrap()
}

fn two(format: Format) -> String {
    let (first, first_lines) = troubled();
    let mut second = manifest(1, vec![task("files/copy", None), task("files/move", None)]);
    second.run = "20260103-000000-demo-noop".to_owned();
    second.agent.spec = "noop".to_owned();
    let second_lines = vec![graded("files/copy", 1, 0.0), graded("files/move", 1, 0.0)];
    let runs = [
        RunReport::new(&first, &first_lines).unwrap(),
        RunReport::new(&second, &second_lines).unwrap(),
    ];
    render(format, &runs).unwrap()
}

#[test]
fn table() {
    assert_snapshot!(one(Format::Table(Screen::default())));
}

#[test]
fn table_on_a_narrow_terminal() {
    let look = Look::Coloured;
    assert_snapshot!(one(Format::Table(Screen { width: 80, look })));
}

#[test]
fn table_of_two() {
    assert_snapshot!(two(Format::Table(Screen::default())));
}

#[test]
fn markdown() {
    assert_snapshot!(one(Format::Markdown));
}

#[test]
fn markdown_of_two() {
    assert_snapshot!(two(Format::Markdown));
}

#[test]
fn json() {
    assert_snapshot!(one(Format::Json));
}

#[test]
fn csv() {
    assert_snapshot!(one(Format::Csv));
}

#[test]
fn junit() {
    assert_snapshot!(one(Format::Junit));
}

#[test]
fn html() {
    assert_snapshot!(one(Format::Html));
}

fn measured(format: Format) -> String {
    let (manifest, lines) = games();
    let run = RunReport::new(&manifest, &lines).unwrap();
    render(format, &[run]).unwrap()
}

#[test]
fn table_with_measured_values() {
    assert_snapshot!(measured(Format::Table(Screen::default())));
}

#[test]
fn markdown_with_measured_values() {
    assert_snapshot!(measured(Format::Markdown));
}

#[test]
fn csv_with_measured_values() {
    assert_snapshot!(measured(Format::Csv));
}

#[test]
fn junit_with_measured_values() {
    assert_snapshot!(measured(Format::Junit));
}

#[test]
fn json_with_measured_values() {
    let report: serde_json::Value = serde_json::from_str(&measured(Format::Json)).unwrap();
    let measured = &report["runs"][0]["summary"]["measured"];
    assert_snapshot!(serde_json::to_string_pretty(measured).unwrap());
}

#[test]
fn html_with_measured_values() {
    let page = measured(Format::Html);
    let table = page.split("Measured").nth(1).unwrap();
    let table = table.split("</table>").next().unwrap();
    assert_snapshot!(table);
}

#[test]
fn html_of_two_keeps_their_controls_apart() {
    let page = two(Format::Html);
    assert!(page.contains("<h1>2 runs compared</h1>"));
    assert!(page.contains("name=\"show-0\"") && page.contains("name=\"show-1\""));
}

#[test]
fn the_json_report_names_every_field_in_its_schema() {
    let report: serde_json::Value = serde_json::from_str(&one(Format::Json)).unwrap();
    let schema = serde_json::to_value(document_schema()).unwrap();
    let known = &schema["$defs"]["Summary"]["properties"];
    for name in report["runs"][0]["summary"].as_object().unwrap().keys() {
        assert!(known.get(name).is_some(), "{name}");
    }
}
