//! The container sandbox, on the engine that DOCKER_HOST names.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests fail by panicking"
)]

#[path = "scenarios/session.rs"]
mod scenarios;

#[path = "container/confinement.rs"]
mod confinement;
#[path = "container/fixture.rs"]
mod fixture;
#[path = "container/life.rs"]
mod life;
#[path = "container/programs.rs"]
mod programs;

session_scenarios! {
    fixture::sandbox:
    state_survives,
    every_command_arrives_as_it_is,
    output_is_kept_whole_and_shown_in_part,
    any_bytes_survive,
    a_hard_time_out_kills_the_whole_tree,
    a_hard_time_out_drops_the_rest_of_the_line,
    a_shell_that_cannot_drop_its_line_is_replaced,
    loops_of_the_shell_itself_are_interrupted,
    a_shell_that_will_not_stop_is_replaced,
    a_silent_command_can_be_waited_for_and_typed_to,
    a_late_command_ends_while_waited_for,
    control_keys_reach_the_command,
    unread_input_does_not_spoil_the_next_command,
    a_shell_that_ends_is_replaced,
    redirected_and_traced_shells_still_answer,
    a_flood_is_bounded_and_killed,
    a_fork_bomb_does_not_end_the_session,
}
