//! Whether memory stays flat: what is held after 100,000 calls, against what was held after 10,000. Every
//! tenth call has a picture.

use agon_llm::{Image, Request, SessionOptions};

use crate::figure::{Failed, Figure};
use crate::load::{AT_ONCE, model, picture, question, question_with, run};
use crate::server::Server;

const SOME: usize = 10_000;
const MANY: usize = 100_000;

pub(crate) async fn flat() -> Result<Figure, Failed> {
    let server = Server::start()?;
    let model = model(&server.url, &SessionOptions::default())?;
    let picture = picture()?;
    let request = move |number| mixed(number, &picture);
    run(&model, SOME, AT_ONCE, request.clone()).await?;
    let some = held_mb()?;
    let mut on_the_way = Vec::new();
    while on_the_way.len() * SOME < MANY - SOME {
        run(&model, SOME, AT_ONCE, request.clone()).await?;
        on_the_way.push(held_mb()?);
    }
    let many = *on_the_way.last().ok_or("nothing was measured")?;
    let shown: Vec<String> = on_the_way.iter().map(|mb| format!("{mb:.1}")).collect();
    Ok(
        Figure::new("memory_100k_calls_mb", many, Some(some)).noting(format!(
            "MB after each further {SOME} calls: {}",
            shown.join(", ")
        )),
    )
}

fn mixed(number: usize, picture: &Image) -> Request {
    if number.is_multiple_of(10) {
        question_with(number, picture)
    } else {
        question(number)
    }
}

/// In memory, of this process.
fn held_mb() -> Result<f64, Failed> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let held = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = held.and_then(|text| text.trim().trim_end_matches(" kB").parse::<f64>().ok());
    Ok(kib.ok_or("the kernel does not say how much is held")? / 1024.0)
}
