//! What is done with the arguments of `agon review`: a verdict, a list, or a sitting.

use agon_core::{Clock, SystemClock};
use agon_store::{Review, Reviews, RunReader};

use super::args::ReviewArgs;
use super::docket::{self, Case};
use super::{list, session};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;
use crate::cli::report::find_run;

pub(in crate::cli) fn review(args: &ReviewArgs) -> Result<Exit, Failure> {
    let reader = RunReader::open(&find_run(&args.run)?)?;
    let reviews = Reviews::read(reader.folder())?;
    if reviews.unread() > 0 {
        let unread = reviews.unread();
        output::say(&format!(
            "note: {} of {} can't be read and {} left out",
            output::count(unread, "line"),
            reader.folder().reviews_file().display(),
            if unread == 1 { "is" } else { "are" }
        ));
    }
    let mut cases = docket::cases(&reader, &reviews, args)?;
    if args.verdict().is_some() || args.comment.is_some() {
        return decide(args, &reader, &reviews, &cases);
    }
    if args.list || args.json {
        return list::show(&cases, &reviews, args.json);
    }
    // A stable sort: within both, the order of the run.
    cases.sort_by_key(|case| reviews.verdict(&case.line).is_some());
    session::sit(&reader, &cases, &args.who(), &mut std::io::stdin().lock())
}

/// One verdict, given on the command line.
fn decide(
    args: &ReviewArgs,
    reader: &RunReader,
    reviews: &Reviews,
    cases: &[Case],
) -> Result<Exit, Failure> {
    let name = args.task.as_deref().unwrap_or_default();
    let case = match cases {
        [case] => case,
        [] => {
            return Err(Failure::new(format_args!(
                "there is no result of {name} in this run: agon review {} --list shows which there are",
                args.run
            )));
        }
        [first, ..] => {
            return Err(Failure::new(format_args!(
                "{name} was played {} times: name one, such as --task {}",
                cases.len(),
                first.label()
            )));
        }
    };
    let standing = reviews.verdict(&case.line);
    let verdict = match (args.verdict(), standing) {
        (Some(verdict), _) => verdict,
        (None, Some(review)) => review.verdict,
        (None, None) => {
            return Err(Failure::new(format_args!(
                "nobody has said yet whether {name} passed: give --pass or --fail beside the comment"
            )));
        }
    };
    let comment = args.comment.as_deref().unwrap_or_default();
    let now = SystemClock::default().now();
    let review = Review::of(&case.line, verdict, comment, &args.who(), now);
    review.append(reader.folder())?;
    if args.json {
        output::json(&review)?;
    } else {
        output::say(&format!("{}: {}", case.label(), list::said(&review)));
    }
    Ok(Exit::Done)
}
