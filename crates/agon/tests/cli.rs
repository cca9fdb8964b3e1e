//! The real `agon` program, driven from outside as a user would.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "cli/http_service.rs"]
mod http_service;
#[path = "../../sandbox/tests/scenarios/probe.rs"]
mod probe;
#[path = "cli/scripted.rs"]
mod scripted;
#[path = "cli/secrets.rs"]
mod secrets;
#[path = "cli/support.rs"]
mod support;

#[path = "cli/agent_files.rs"]
mod agent_files;
#[path = "cli/arena.rs"]
mod arena;
#[path = "cli/bad_input.rs"]
mod bad_input;
#[path = "cli/bench.rs"]
mod bench;
#[path = "cli/bench_suites.rs"]
mod bench_suites;
#[path = "cli/boundaries.rs"]
mod boundaries;
#[path = "cli/cheating_workflow.rs"]
mod cheating_workflow;
#[path = "cli/container.rs"]
mod container;
#[path = "cli/container_grading.rs"]
mod container_grading;
#[path = "cli/desktop.rs"]
mod desktop;
#[path = "cli/desktop_suite.rs"]
mod desktop_suite;
#[path = "cli/desktop_tasks.rs"]
mod desktop_tasks;
#[path = "cli/distribution.rs"]
mod distribution;
#[path = "cli/export.rs"]
mod export;
#[path = "cli/full_disk.rs"]
mod full_disk;
#[path = "cli/games.rs"]
mod games;
#[path = "cli/gateway.rs"]
mod gateway;
#[path = "cli/gui_agents.rs"]
mod gui_agents;
#[path = "cli/gui_agents_vendors.rs"]
mod gui_agents_vendors;
#[path = "cli/hand_in.rs"]
mod hand_in;
#[path = "cli/harbor.rs"]
mod harbor;
#[path = "cli/hostile.rs"]
mod hostile;
#[path = "cli/isolation.rs"]
mod isolation;
#[path = "cli/judge.rs"]
mod judge;
#[path = "cli/killed.rs"]
mod killed;
#[path = "cli/llm.rs"]
mod llm;
#[path = "cli/local_model.rs"]
mod local_model;
#[path = "cli/models.rs"]
mod models;
#[path = "cli/operator.rs"]
mod operator;
#[path = "cli/osuniverse.rs"]
mod osuniverse;
#[path = "cli/packing.rs"]
mod packing;
#[path = "cli/predict.rs"]
mod predict;
#[path = "cli/realtime.rs"]
mod realtime;
#[path = "cli/record.rs"]
mod record;
#[path = "cli/review.rs"]
mod review;
#[path = "cli/rewards.rs"]
mod rewards;
#[path = "cli/run.rs"]
mod run;
#[path = "cli/screens.rs"]
mod screens;
#[path = "cli/solve.rs"]
mod solve;
#[path = "cli/verdict.rs"]
mod verdict;
#[path = "cli/view.rs"]
mod view;
#[path = "cli/view_live.rs"]
mod view_live;
#[path = "cli/workbench.rs"]
mod workbench;
#[path = "cli/working_folder.rs"]
mod working_folder;
