//! How many short calls a second, 64 at a time.

use agon_llm::SessionOptions;

use crate::figure::{Failed, Figure};
use crate::load::{AT_ONCE, model, question, run};
use crate::python::Python;
use crate::server::Server;

const WARM_UP: usize = 5_000;
const CALLS: usize = 10_000;
const ROUNDS: usize = 5;

pub(crate) async fn per_second(python: &Python) -> Result<Figure, Failed> {
    let server = Server::start()?;
    let model = model(&server.url, &SessionOptions::default())?;
    run(&model, WARM_UP, AT_ONCE, question).await?;
    let mut rounds = Vec::new();
    for _ in 0..ROUNDS {
        rounds.push(run(&model, CALLS, AT_ONCE, question).await?);
    }
    rounds.sort_by_key(|took| took.wall);
    let rates: Vec<f64> = rounds
        .iter()
        .map(|took| took.per_second().round())
        .collect();
    let middle = rounds.get(ROUNDS / 2).ok_or("nothing was measured")?;
    let others = python.ask(&server.url, AT_ONCE, None);
    let figure = Figure::new(
        "calls_per_s",
        middle.per_second(),
        others.as_ref().ok().map(|others| others.per_second),
    );
    let figure = figure
        .noting(format!(
            "rounds of {CALLS} calls, the fastest first: {rates:?}"
        ))
        .noting(format!(
            "{:.3} ms of own processor time per call",
            middle.processor_ms_per_call()
        ));
    Ok(match others {
        Ok(others) => figure.noting(others.told()),
        Err(why) => figure.noting(why),
    })
}
