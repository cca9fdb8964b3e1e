//! A session with time of its own, and models at test servers.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use agon_core::Purpose;
use agon_llm::{
    Account, Bounds, Budget, CallRecord, Key, LlmError, Model, ModelSpec, Pace, Provider, Request,
    Session, SessionOptions, Settings, Wire,
};

pub(crate) const KEY: &str = "sk-test-4f9a1c77e2b3";

/// Time that passes at once.
#[derive(Debug)]
pub(crate) struct TestPace {
    begin: Instant,
    waits: Mutex<Vec<Duration>>,
}

impl TestPace {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            begin: Instant::now(),
            waits: Mutex::default(),
        })
    }

    /// What was waited for, in seconds.
    pub(crate) fn waits(&self) -> Vec<f64> {
        self.waits
            .lock()
            .unwrap()
            .iter()
            .map(Duration::as_secs_f64)
            .collect()
    }
}

impl Pace for TestPace {
    fn now(&self) -> Instant {
        let waited: Duration = self.waits.lock().unwrap().iter().sum();
        self.begin + waited
    }

    fn sleep(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.waits.lock().unwrap().push(time);
        Box::pin(async {})
    }

    fn jitter(&self) -> f64 {
        0.5
    }
}

pub(crate) struct Place {
    pub(crate) session: Arc<Session>,
    pub(crate) model: Model,
    pub(crate) account: Arc<Account>,
    pub(crate) pace: Arc<TestPace>,
}

pub(crate) fn spec(url: &str) -> ModelSpec {
    ModelSpec {
        name: "test".to_owned(),
        provider: Provider::Compatible,
        wire: Wire::Chat,
        model: "m".to_owned(),
        base_url: url.to_owned(),
        key: Some(Key::new(KEY)),
        settings: Settings::default(),
    }
}

/// Nothing real takes longer than this.
pub(crate) fn bounds() -> Bounds {
    Bounds {
        connect: Duration::from_secs(5),
        headers: Duration::from_secs(5),
        stall: Duration::from_secs(5),
        call: Duration::from_secs(600),
        body: 1 << 20,
        stream: 1 << 20,
        event: 1 << 16,
        error: 1 << 12,
        ..Bounds::default()
    }
}

pub(crate) fn options(pace: &Arc<TestPace>) -> SessionOptions {
    SessionOptions {
        pace: Some(Arc::clone(pace) as Arc<dyn Pace>),
        bounds: bounds(),
        ..SessionOptions::default()
    }
}

impl Place {
    pub(crate) fn at(url: &str) -> Self {
        Self::with(spec(url), |_| {})
    }

    pub(crate) fn with(spec: ModelSpec, change: impl FnOnce(&mut SessionOptions)) -> Self {
        let pace = TestPace::new();
        let mut options = options(&pace);
        change(&mut options);
        let session = Session::open(&options).unwrap();
        let account = Arc::new(Account::of_trial(Budget::default(), None));
        let model = session.model(spec).unwrap().on(&account, Purpose::Agent);
        Self {
            session,
            model,
            account,
            pace,
        }
    }

    pub(crate) async fn ask(&self) -> Result<String, LlmError> {
        let reply = self.model.ask(&Request::user("hi")).await;
        reply.map(|reply| reply.text())
    }

    pub(crate) async fn fails(&self) -> LlmError {
        self.ask().await.unwrap_err()
    }

    /// The one call that was booked.
    pub(crate) fn record(&self) -> CallRecord {
        let mut calls = self.account.take_calls();
        assert_eq!(calls.len(), 1, "{calls:?}");
        calls.remove(0)
    }
}
