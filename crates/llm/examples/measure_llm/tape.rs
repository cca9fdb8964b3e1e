//! How many calls a second a tape answers: 1,000 different requests, recorded from the server before.

use std::path::Path;

use agon_llm::{Request, SessionOptions};

use crate::figure::{Failed, Figure};
use crate::load::{AT_ONCE, Took, model, picture, question, question_with, run};
use crate::server::Server;

const REQUESTS: usize = 1_000;
const CALLS: usize = 20_000;
/// Fewer, since each has a picture.
const WITH_PICTURE: (usize, usize) = (100, 2_000);

pub(crate) async fn per_second() -> Result<Figure, Failed> {
    let server = Server::start()?;
    let folder = tempfile::tempdir()?;
    let short = |number| question(number % REQUESTS);
    let tape = folder.path().join("short.tape");
    let many = taped(&server, &tape, REQUESTS, CALLS, AT_ONCE, short).await?;
    let one = replayed(&tape, CALLS, 1, short).await?;
    let picture = picture()?;
    let (requests, calls) = WITH_PICTURE;
    let large = move |number| question_with(number % requests, &picture);
    let tape = folder.path().join("large.tape");
    let pictures = taped(&server, &tape, requests, calls, AT_ONCE, large).await?;
    Ok(
        Figure::new("tape_calls_per_s", many.per_second(), None).noting(format!(
            "one at a time: {:.0} calls/s; with a picture of 150 KB in each: {:.0} calls/s",
            one.per_second(),
            pictures.per_second()
        )),
    )
}

/// Records every request once, then asks the tape.
async fn taped<F>(
    server: &Server,
    tape: &Path,
    requests: usize,
    calls: usize,
    at_once: usize,
    request: F,
) -> Result<Took, Failed>
where
    F: Fn(usize) -> Request + Clone + Send + 'static,
{
    let options = SessionOptions {
        record: Some(tape.to_owned()),
        ..SessionOptions::default()
    };
    run(
        &model(&server.url, &options)?,
        requests,
        at_once,
        request.clone(),
    )
    .await?;
    replayed(tape, calls, at_once, request).await
}

async fn replayed<F>(tape: &Path, calls: usize, at_once: usize, request: F) -> Result<Took, Failed>
where
    F: Fn(usize) -> Request + Clone + Send + 'static,
{
    let options = SessionOptions {
        replay: Some(tape.to_owned()),
        ..SessionOptions::default()
    };
    // Nobody listens there: only the tape can answer.
    let model = model("http://models.invalid/v1", &options)?;
    run(&model, calls, at_once, request).await
}
