//! The table of addresses below `/api`. The router and the description (`/api/openapi.json`) are both made
//! from it, so that neither can say something else than the other.

use agon_core::event::Event;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::Value;

use super::orders::{self, Asked as OrderTaken};
use super::{description, runs, trials};
use crate::error::ViewerError;
use crate::serve::{App, Asked, Reply};
use crate::shape::{
    Comparison, Feed, Neighbours, Progress, ReviewCard, ReviewOrder, RunCard, Step, Steps,
    StopOrder, TaskPage, Track, TrialHead, TrialKey, TrialPage,
};

type Handler = fn(&App, &Asked) -> Result<Reply, ViewerError>;
type Shape = fn(&mut SchemaGenerator) -> Schema;

/// What happens at an address.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Does {
    Get(Handler),
    /// With the shape of the body.
    Post(Handler, Shape),
    /// Sends what happens, as it happens.
    Listen,
}

#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) path: &'static str,
    /// Names it for programs that are made from the description.
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) does: Does,
    pub(crate) query: &'static [Parameter],
    pub(crate) answer: Shape,
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Number,
    Switch,
    /// Given two or more times.
    Often,
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const fn parameter(name: &'static str, kind: Kind, about: &'static str) -> Parameter {
    Parameter { name, about, kind }
}

macro_rules! filters {
    ($($more:expr),* $(,)?) => {
        &[
            parameter("q", Kind::Text, "words that task, name, reason or fault hold"),
            parameter("outcome", Kind::Text, "passed, failed, faulted, running, missing; several with commas"),
            parameter("fault", Kind::Text, "classes of faults, with commas"),
            parameter("level", Kind::Text, "levels, with commas; none: without one"),
            parameter("category", Kind::Text, "categories, with commas"),
            parameter("check", Kind::Text, "names of checks that did not pass, with commas"),
            parameter(
                "flag",
                Kind::Text,
                "reviewed, unreviewed, disagreed, integrity, tainted, retried, rerun, elsewhere, operator; \
                 several with commas",
            ),
            parameter("attempts", Kind::Switch, "every attempt instead of every trial"),
            parameter(
                "sort",
                Kind::Text,
                "ended, task, level, outcome, score, measured, steps, seconds, tokens or cost",
            ),
            parameter("desc", Kind::Switch, "the other way round"),
            $($more),*
        ]
    };
}

const RUNS_TO_COMPARE: Parameter = parameter(
    "run",
    Kind::Often,
    "ids of two to eight runs; the first is what the others are compared with",
);

/// Where the description is.
pub(crate) const DESCRIPTION: &str = "/api/openapi.json";

pub(crate) const ROUTES: &[Route] = &[
    Route {
        path: "/api/runs",
        name: "runs",
        about: "Every run, newest first.",
        does: Does::Get(runs::runs),
        query: &[],
        answer: of::<Vec<RunCard>>,
    },
    Route {
        path: "/api/runs/{run}",
        name: "run",
        about: "A run: its card, what it adds up to, how results came in, and what was planned.",
        does: Does::Get(runs::run),
        query: &[],
        answer: of::<runs::RunDetail>,
    },
    Route {
        path: "/api/runs/{run}/trials",
        name: "trials",
        about: "Trials of a run that pass a filter, in an order.",
        does: Does::Get(runs::trials),
        query: filters![
            parameter("offset", Kind::Number, "how many to pass over"),
            parameter(
                "limit",
                Kind::Number,
                "how many to give, 500 at most [default: 100]"
            ),
        ],
        answer: of::<TrialPage>,
    },
    Route {
        path: "/api/runs/{run}/checks",
        name: "checks",
        about: "Names of checks that did not pass anywhere, with how often; most frequent first.",
        does: Does::Get(runs::checks),
        query: &[],
        answer: of::<Vec<(String, u64)>>,
    },
    Route {
        path: "/api/runs/{run}/feed",
        name: "feed",
        about: "What happens in the run, as server-sent events: the name of an event is `event`, its data \
                is `data`.",
        does: Does::Listen,
        query: &[],
        answer: of::<Feed>,
    },
    Route {
        path: "/api/runs/{run}/live",
        name: "live",
        about: "The state of a run: counts, and the trials that are being played. The feed begins with the \
                same.",
        does: Does::Get(runs::live),
        query: &[],
        answer: of::<Progress>,
    },
    Route {
        path: "/api/runs/{run}/unreviewed",
        name: "unreviewed",
        about: "The next trial that counts and that nobody has reviewed, in the order of a list; after the \
                last one, the first. Null: there is none.",
        does: Does::Get(runs::unreviewed),
        query: filters![parameter(
            "after",
            Kind::Text,
            "category/id/epoch/attempt of the one that was looked at"
        )],
        answer: of::<Option<TrialKey>>,
    },
    Route {
        path: "/api/runs/{run}/reviews",
        name: "review",
        about: "Say whether a trial passed, with a comment if there is one, or take that back (`clear`). \
                Answers with all that was said about it.",
        does: Does::Post(orders::review, of::<ReviewOrder>),
        query: &[],
        answer: of::<ReviewCard>,
    },
    Route {
        path: "/api/runs/{run}/stop",
        name: "stop",
        about: "Ask for the end of a trial that is being played; what the agent left is graded.",
        does: Does::Post(orders::stop, of::<StopOrder>),
        query: &[],
        answer: of::<OrderTaken>,
    },
    Route {
        path: "/api/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}",
        name: "trial",
        about: "Everything about an attempt but its steps.",
        does: Does::Get(trials::head),
        query: &[],
        answer: of::<TrialHead>,
    },
    Route {
        path: "/api/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}/steps",
        name: "steps",
        about: "The steps of an attempt, in short.",
        does: Does::Get(trials::steps),
        query: &[
            parameter("from", Kind::Number, "the first one [default: 0]"),
            parameter(
                "count",
                Kind::Number,
                "how many, 500 at most [default: 100]",
            ),
        ],
        answer: of::<Steps>,
    },
    Route {
        path: "/api/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}/steps/{step}",
        name: "step",
        about: "One step with its events and screens.",
        does: Does::Get(trials::step),
        query: &[],
        answer: of::<Step>,
    },
    Route {
        path: "/api/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}/events/{seq}",
        name: "event",
        about: "One event as it is recorded.",
        does: Does::Get(trials::event),
        query: &[],
        answer: of::<Event>,
    },
    Route {
        path: "/api/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}/events/{seq}/request",
        name: "request",
        about: "What a model was sent in the call that an event tells of.",
        does: Does::Get(trials::request),
        query: &[],
        answer: of::<Value>,
    },
    Route {
        path: "/api/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}/events/{seq}/response",
        name: "response",
        about: "What the model answered in the call that an event tells of.",
        does: Does::Get(trials::response),
        query: &[],
        answer: of::<Value>,
    },
    Route {
        path: "/api/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}/track",
        name: "track",
        about: "Frames, input and actions of an attempt that was played in real time.",
        does: Does::Get(trials::track),
        query: &[],
        answer: of::<Track>,
    },
    Route {
        path: "/api/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}/neighbours",
        name: "neighbours",
        about: "The trials before and after one in a list.",
        does: Does::Get(trials::neighbours),
        query: filters![],
        answer: of::<Neighbours>,
    },
    Route {
        path: "/api/compare",
        name: "compare",
        about: "Runs against each other, paired by task.",
        does: Does::Get(runs::compare),
        query: &[RUNS_TO_COMPARE],
        answer: of::<Comparison>,
    },
    Route {
        path: "/api/compare/tasks",
        name: "compared_tasks",
        about: "Tasks of a comparison that pass a filter, in an order.",
        does: Does::Get(runs::compared_tasks),
        query: &[
            RUNS_TO_COMPARE,
            parameter("q", Kind::Text, "words that task, name or level hold"),
            parameter(
                "show",
                Kind::Text,
                "all, gained, lost, both, neither or open [default: all]",
            ),
            parameter(
                "against",
                Kind::Text,
                "id of the run that is held against the first [default: the second]",
            ),
            parameter(
                "sort",
                Kind::Text,
                "difference, task, level, or the sign of a run, such as A [default: difference]",
            ),
            parameter("desc", Kind::Switch, "the other way round"),
            parameter("offset", Kind::Number, "how many to pass over"),
            parameter(
                "limit",
                Kind::Number,
                "how many to give, 500 at most [default: 100]",
            ),
        ],
        answer: of::<TaskPage>,
    },
    Route {
        path: DESCRIPTION,
        name: "description",
        about: "This description.",
        does: Does::Get(description::describe),
        query: &[],
        answer: of::<Value>,
    },
];
