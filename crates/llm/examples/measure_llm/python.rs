//! The client that others use, Python's `openai`, against the same server. Where it is missing that is said,
//! and never a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Calls in all; a few before them do not count.
const CALLS: usize = 2_000;

const CLIENT: &str = r#"
import asyncio, base64, json, sys, time
import openai
url, calls, at_once = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
picture = open(sys.argv[4], 'rb').read() if len(sys.argv) > 4 else None
def messages(number):
    text = f'What is to be done in step {number}?'
    if picture is not None:
        data = 'data:image/png;base64,' + base64.b64encode(picture).decode()
        text = [{'type': 'text', 'text': text},
                {'type': 'image_url', 'image_url': {'url': data, 'detail': 'auto'}}]
    return [{'role': 'system', 'content': 'You drive a desktop. Answer in one word.'},
            {'role': 'user', 'content': text}]
async def ask(client, numbers):
    for number in numbers:
        answer = await client.chat.completions.create(model='m', messages=messages(number), temperature=0)
        assert answer.choices[0].message.content == 'Done.'
async def load(client, calls):
    numbers = iter(range(calls))
    await asyncio.gather(*(ask(client, numbers) for _ in range(at_once)))
async def main():
    async with openai.AsyncOpenAI(base_url=url, api_key='sk-measured-0123456789abcdef') as client:
        await load(client, 2 * at_once)
        wall, processor = time.perf_counter(), time.process_time()
        await load(client, calls)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    print(json.dumps({'per_second': calls / wall, 'processor_ms': processor * 1e3 / calls,
                      'version': openai.__version__}))
asyncio.run(main())
"#;

/// An interpreter that has the client, or none.
#[derive(Debug)]
pub(crate) struct Python(Option<PathBuf>);

/// What the other client managed.
#[derive(Debug)]
pub(crate) struct Others {
    pub(crate) per_second: f64,
    pub(crate) processor_ms: f64,
    version: String,
}

impl Others {
    pub(crate) fn told(&self) -> String {
        format!(
            "Python's openai {}, same server and load: {:.0} calls/s, {:.2} ms of processor time each",
            self.version, self.per_second, self.processor_ms
        )
    }
}

impl Python {
    pub(crate) fn at(path: Option<&String>) -> Self {
        Self(path.map(PathBuf::from))
    }

    /// With the picture in every call, if there is one. The error says what is missing.
    pub(crate) fn ask(
        &self,
        url: &str,
        at_once: usize,
        picture: Option<&Path>,
    ) -> Result<Others, String> {
        let missing = |why: &str| format!("no figure of Python's openai: {why}");
        let Some(python) = &self.0 else {
            return Err(missing("it is not installed"));
        };
        let output = Command::new(python)
            .args(["-c", CLIENT, url])
            .args([CALLS, at_once].map(|number| number.to_string()))
            .args(picture)
            .env_remove("HTTP_PROXY")
            .env_remove("http_proxy")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| missing(&error.to_string()))?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        let last = complaint.lines().next_back().unwrap_or_default();
        let told: Value = serde_json::from_slice(&output.stdout).map_err(|_| missing(last))?;
        let number = |name: &str| told[name].as_f64().ok_or_else(|| missing(last));
        Ok(Others {
            per_second: number("per_second")?,
            processor_ms: number("processor_ms")?,
            version: told["version"].as_str().unwrap_or_default().to_owned(),
        })
    }
}
