//! What a call with a picture costs this process, in it and for it in the kernel. The row is the one with
//! 64 calls at a time; one at a time is said beside it.

use agon_llm::{Provider, SessionOptions, Wire};

use crate::figure::{Failed, Figure};
use crate::load::{AT_ONCE, Took, model, model_of, picture, question_with, run};
use crate::python::Python;
use crate::server::Server;

const WARM_UP: usize = 500;
const CALLS: usize = 2_000;
const ROUNDS: usize = 5;

/// The other forms, which are only said beside the row.
const FORMS: [(&str, (Provider, Wire)); 3] = [
    ("Responses", (Provider::OpenAi, Wire::Responses)),
    ("Messages", (Provider::Anthropic, Wire::Messages)),
    ("Gemini", (Provider::Gemini, Wire::Gemini)),
];

pub(crate) async fn own_time(python: &Python) -> Result<Figure, Failed> {
    let server = Server::start()?;
    let model = model(&server.url, &SessionOptions::default())?;
    let picture = picture()?;
    let bytes = picture.bytes.len();
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), &picture.bytes)?;
    let request = move |number| question_with(number, &picture);
    run(&model, WARM_UP, AT_ONCE, request.clone()).await?;
    let (mut many, mut one) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        many.push(run(&model, CALLS, AT_ONCE, request.clone()).await?);
        one.push(run(&model, CALLS, 1, request.clone()).await?);
    }
    let (many, one) = (middle(&mut many)?, middle(&mut one)?);
    let mut forms = Vec::new();
    for (name, kind) in FORMS {
        let model = model_of(kind, &server.url, &SessionOptions::default())?;
        run(&model, WARM_UP, AT_ONCE, request.clone()).await?;
        let took = run(&model, CALLS, AT_ONCE, request.clone()).await?;
        forms.push(format!("{name} {:.3} ms", took.processor_ms_per_call()));
    }
    let others = python.ask(&server.url, AT_ONCE, Some(file.path()));
    let figure = Figure::new(
        "own_ms_per_image_call",
        many.processor_ms_per_call(),
        others.as_ref().ok().map(|others| others.processor_ms),
    );
    let figure = figure
        .noting(format!(
            "a PNG of {bytes} bytes; processor time, user and system"
        ))
        .noting(format!(
            "one at a time: {:.3} ms; 64 at a time: {:.0} calls/s",
            one.processor_ms_per_call(),
            many.per_second()
        ))
        .noting(format!("in other forms: {}", forms.join(", ")));
    Ok(match others {
        Ok(others) => figure.noting(others.told()),
        Err(why) => figure.noting(why),
    })
}

fn middle(rounds: &mut [Took]) -> Result<Took, Failed> {
    let cost = |took: &Took| took.processor_ms_per_call();
    rounds.sort_by(|a, b| cost(a).total_cmp(&cost(b)));
    let middle = rounds.get(rounds.len() / 2).copied();
    middle.ok_or_else(|| "nothing was measured".into())
}
