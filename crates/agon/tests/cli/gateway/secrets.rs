//! The key of the service: known to the service, and to nobody inside.

use super::service::Service;
use super::stage::Stage;
use crate::secrets::Secret;
use crate::support::Called;

const KEY: &str = "sk-0123456789abcdef-of-the-service";

#[test]
fn the_key_reaches_the_service_and_is_nowhere_else() {
    let service = Service::saying("it works");
    let stage = Stage::new();
    let config = format!(
        "[llm.big]\nmodel = \"openai/big-1\"\nbase_url = \"{}\"\napi_key = \"{KEY}\"\n",
        service.base_url
    );
    stage.bench.write("config.toml", &config);
    // What it looks for is put together, so that it does not find itself.
    stage.agent(
        r#"
import subprocess
think(os.environ["AGON_MODEL"] + " " + said(ask(hello(model="big"))))
think(ask(hello(model="other"))[1])
think(dict(os.environ))
secret = "0123456789abc" + "def-of-the-service"
find = f"grep -rsl --devices=skip --exclude-dir=proc --exclude-dir=usr '{secret}' / ; cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n' | grep -c '{secret}'"
def found(**more):
    ran = subprocess.run(["sh", "-c", find.replace("0123", "[0]123")], env={**os.environ, **more},
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return ran.stdout.decode().split()
think(found())
# It would be found if it were there.
open("/tmp/planted", "w").write(secret)
where, count = found(PLANTED=secret)
think([where, count != "0"])
for port in [80, 443, int(os.environ["OPENAI_BASE_URL"].split(":")[2].split("/")[0]) + 1]:
    think(socket.socket().connect_ex(("127.0.0.1", port)) != 0)
think(socket.socket().connect_ex(("1.1.1.1", 443)) != 0)
"#,
    );
    stage.run("cmd", "big", &[]).expect(0);

    let seen = service.seen();
    assert_eq!(seen.len(), 1);
    assert!(seen[0].contains(&format!("Bearer {KEY}")), "{}", seen[0]);
    assert!(seen[0].contains("big-1"), "{}", seen[0]);
    let thoughts = stage.thoughts();
    assert_eq!(thoughts[0], "big it works");
    assert!(
        !thoughts.iter().any(|said| said.contains(KEY)),
        "{thoughts:?}"
    );
    assert_eq!(thoughts[3], "['0']", "{thoughts:?}");
    assert_eq!(thoughts[4], "['/tmp/planted', True]", "{thoughts:?}");
    assert_eq!(thoughts[5..], ["True"; 4]);
    let calls = stage.calls();
    // The second was for a model that is not there.
    assert_eq!((calls.len(), calls[0].usage.input_tokens), (2, 7));

    let found = Secret::new(KEY).files_with(&stage.bench.path("run"));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn a_program_of_the_host_that_has_a_gateway_has_no_keys_of_services() {
    for (model, seen) in [
        (
            ["--model", "mock/echo"].as_slice(),
            "[False, False, False, False, False]",
        ),
        // Without one, it has all that its user has.
        (&[], "[True, True, True, True, True]"),
    ] {
        let stage = Stage::new();
        stage.agent(
            r#"
names = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY", "LLM_API_KEY"]
think([os.environ.get(name, "none").startswith("sk-") for name in names])
"#,
        );
        let agent = "cmd-host:python3 agents/agent.py";
        let run = ["run", "suite", "--out", "run", "--agent", agent];
        let mut command = stage.bench.agon(&[run.as_slice(), model].concat());
        for name in ["OPENAI", "ANTHROPIC", "GEMINI", "OPENROUTER", "LLM"] {
            command.env(format!("{name}_API_KEY"), KEY);
        }
        Called(command.output().unwrap()).expect(0);
        assert_eq!(stage.thoughts(), [seen]);
    }
}
