//! The example of a model of one's own, as it is.

#[path = "../../../../../examples/my_model.rs"]
mod my_model;

#[test]
fn the_example_scores_what_its_model_answers() {
    my_model::main().unwrap();
}
