//! Reads a text, breaks its lines, writes it.

mod options;
mod paragraphs;
mod wrap;

use std::io::{self, Read, Write};
use std::process::ExitCode;

use options::Options;

fn main() -> ExitCode {
    let options = match Options::parse(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(complaint) => {
            eprintln!("rewrap: {complaint}");
            return ExitCode::from(2);
        }
    };
    match run(&options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rewrap: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> io::Result<()> {
    let mut input = Vec::new();
    io::stdin().lock().read_to_end(&mut input)?;
    let input = String::from_utf8_lossy(&input);
    let mut output = String::new();
    for (at, words) in paragraphs::split(&input).iter().enumerate() {
        if at > 0 {
            output.push_str(options.prefix.trim_end());
            output.push('\n');
        }
        for line in wrap::wrap(words, options.room()) {
            output.push_str(&options.prefix);
            output.push_str(&line);
            output.push('\n');
        }
    }
    io::stdout().lock().write_all(output.as_bytes())
}
