//! `cmd:` up to its sandbox: what is copied and stamped, and whose fault a missing one is.

use std::fs;

use agon_agent::{AgentError, AgentFactory, AgentSpec, Services};
use tempfile::TempDir;

use crate::support::{agent_for, brief, services, task};

#[tokio::test]
async fn without_a_sandbox_a_confined_agent_is_a_fault() {
    let home = TempDir::new().unwrap();
    let script = home.path().join("agent.sh");
    fs::write(&script, "exit 0\n").unwrap();
    let spec = AgentSpec::parse(&format!("cmd:sh {}", script.display())).unwrap();
    let factory = AgentFactory::new(&spec, &services()).unwrap();
    let stamp = factory.stamp();
    assert!(stamp.digest.is_some() && !stamp.unconfined);

    let mut agent = agent_for(&factory, &task("", None), 1);
    let error = agent.start(&brief()).await.unwrap_err();
    let AgentError::Unreachable(why) = error else {
        panic!("{error}")
    };
    assert!(why.contains("install bubblewrap"), "{why}");

    let hidden = Services {
        hidden: vec![home.path().to_owned()],
        ..services()
    };
    let error = AgentFactory::new(&spec, &hidden).unwrap_err();
    assert!(error.to_string().contains("suite or a run"), "{error}");
}
