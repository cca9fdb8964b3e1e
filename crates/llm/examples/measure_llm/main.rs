//! Measures what Agon's client of language models costs, against a server in a process of its own that
//! answers at once. `measure_llm ROW [PYTHON]` prints one line of JSON per figure; `cargo xtask bench llm`
//! runs it and judges.

mod calls;
#[path = "../../../desktop/examples/measure/figure.rs"]
mod figure;
mod load;
mod memory;
mod pictures;
mod python;
mod server;
mod tape;

use std::process::ExitCode;

use figure::{Failed, Figure};
use python::Python;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    figure::tell(measure(&words))
}

fn measure(words: &[String]) -> Result<Vec<Figure>, Failed> {
    let row = words.first().map(String::as_str);
    if row == Some(server::WORD) {
        server::serve()?;
        return Ok(Vec::new());
    }
    let python = Python::at(words.get(1));
    // As many threads as `agon` has.
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let figure = match row {
            Some("calls_per_s") => calls::per_second(&python).await,
            Some("own_ms_per_image_call") => pictures::own_time(&python).await,
            Some("memory_100k_calls_mb") => memory::flat().await,
            Some("tape_calls_per_s") => tape::per_second().await,
            _ => Err("say which row to measure".into()),
        };
        Ok(vec![figure?])
    })
}
