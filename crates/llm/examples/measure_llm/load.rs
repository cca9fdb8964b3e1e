//! Many calls of a model, a number of them at a time, paid for and recorded as those of a trial are. Knows
//! nothing of what is made of the times.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use agon_core::Purpose;
use agon_llm::{
    Account, Budget, Image, Key, MediaType, Message, Model, ModelSpec, Part, Provider, Request,
    Role, Session, SessionOptions, Settings, Wire,
};
use rustix::time::{ClockId, clock_gettime};

use crate::figure::Failed;

/// Calls at the same time.
pub(crate) const AT_ONCE: usize = 64;
/// Bytes of a picture that nothing makes smaller; with what is around them it has 150,000 and some.
const NOISE: usize = 143_000;

/// Of the form that most speak.
pub(crate) const CHAT: (Provider, Wire) = (Provider::Compatible, Wire::Chat);

fn spec((provider, wire): (Provider, Wire), url: &str) -> ModelSpec {
    ModelSpec {
        name: "measured".to_owned(),
        provider,
        wire,
        model: "m".to_owned(),
        base_url: url.to_owned(),
        key: Some(Key::new("sk-measured-0123456789abcdef")),
        settings: Settings::default(),
    }
}

pub(crate) fn model(url: &str, options: &SessionOptions) -> Result<Model, Failed> {
    model_of(CHAT, url, options)
}

pub(crate) fn model_of(
    kind: (Provider, Wire),
    url: &str,
    options: &SessionOptions,
) -> Result<Model, Failed> {
    Ok(Session::open(options)?.model(spec(kind, url))?)
}

/// What a number of calls took.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    calls: usize,
    pub(crate) wall: Duration,
    /// Of this process, in it and for it in the kernel.
    processor: Duration,
}

impl Took {
    pub(crate) fn per_second(self) -> f64 {
        self.calls as f64 / self.wall.as_secs_f64()
    }

    pub(crate) fn processor_ms_per_call(self) -> f64 {
        self.processor.as_secs_f64() * 1e3 / self.calls as f64
    }
}

/// Makes `calls` calls, `at_once` of them at a time; `request` is told which one it is.
pub(crate) async fn run<F>(
    model: &Model,
    calls: usize,
    at_once: usize,
    request: F,
) -> Result<Took, Failed>
where
    F: Fn(usize) -> Request + Clone + Send + 'static,
{
    let next = Arc::new(AtomicUsize::new(0));
    let (began, processor) = (Instant::now(), processor_time());
    let mut callers = Vec::new();
    for _ in 0..at_once {
        let (next, model, request) = (Arc::clone(&next), model.clone(), request.clone());
        callers.push(tokio::spawn(async move {
            // A trial makes a few calls, which are taken to be recorded after each.
            let account = Arc::new(Account::of_trial(Budget::default(), None));
            let model = model.on(&account, Purpose::Agent);
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= calls {
                    return Ok(());
                }
                model.ask(&request(number)).await?;
                drop(account.take_calls());
            }
        }));
    }
    for caller in callers {
        let done: Result<(), agon_llm::LlmError> = caller.await?;
        done?;
    }
    Ok(Took {
        calls,
        wall: began.elapsed(),
        processor: processor_time().saturating_sub(processor),
    })
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(
        u64::try_from(time.tv_sec).unwrap_or(0),
        u32::try_from(time.tv_nsec).unwrap_or(0),
    )
}

/// A short question.
pub(crate) fn question(number: usize) -> Request {
    let mut request = Request::user(format!("What is to be done in step {number}?"));
    request.system = Some("You drive a desktop. Answer in one word.".to_owned());
    request
}

/// The same with a picture.
pub(crate) fn question_with(number: usize, picture: &Image) -> Request {
    let mut request = question(number);
    request.messages = vec![Message::new(
        Role::User,
        [
            Part::Text(format!("What is to be done in step {number}?")),
            Part::Image(picture.clone()),
        ],
    )];
    request
}

/// A PNG of about 150 KB, of a size that every provider takes as it is: the first lines are noise, the others
/// plain.
pub(crate) fn picture() -> Result<Image, Failed> {
    let (width, height) = (1024_u32, 768_u32);
    let mut pixels = vec![200_u8; width as usize * height as usize * 3];
    let mut state = 1_u32;
    for byte in pixels.iter_mut().take(NOISE) {
        // Numbers that no compression makes smaller, the same each time.
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (state >> 24) as u8;
    }
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&pixels)?;
    writer.finish()?;
    Ok(Image {
        media: MediaType::Png,
        bytes: bytes.into(),
    })
}
