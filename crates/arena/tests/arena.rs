//! Agent and evaluator servers over real HTTP, on real desktops.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod arena {
    mod agent_server_child;
    mod agent_server_garbage;
    mod agent_server_many;
    mod agent_server_plays;
    mod agent_server_protocol;
    mod agent_server_stage;
    mod agent_server_stops;
    mod client_pairs;
    mod client_runs;
    mod client_soak;
    mod client_support;
    mod evaluator_agent;
    mod evaluator_ends;
    mod evaluator_game;
    mod evaluator_many;
    mod evaluator_protocol;
    mod evaluator_races;
    mod evaluator_screen;
    mod evaluator_support;
    mod evaluator_with_agent;
    mod interop_python;
    mod vision_judges;
    mod vision_service;
    mod vision_taped;
}
