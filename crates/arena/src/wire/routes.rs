//! Routes that answer what they don't serve as the original's framework does: 404, 405 with `Allow`,
//! 307 for a trailing slash.

use axum::Router;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::Response;
use axum::routing::{MethodFilter, on};
use hyper_util::service::TowerToHyperService;

use super::reply;
use super::token::{Token, refusal};

/// Collects the routes of a server whose handlers share `S`.
#[derive(Debug)]
pub struct Routes<S> {
    router: Router<S>,
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    pub fn new() -> Self {
        Self {
            router: Router::new(),
        }
    }

    pub fn get<H: Handler<T, S>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.on(MethodFilter::GET, path, handler)
    }

    pub fn post<H: Handler<T, S>, T: 'static>(self, path: &str, handler: H) -> Self {
        self.on(MethodFilter::POST, path, handler)
    }

    fn on<H: Handler<T, S>, T: 'static>(
        self,
        method: MethodFilter,
        path: &str,
        handler: H,
    ) -> Self {
        Self {
            router: self.router.route(path, on(method, handler)),
        }
    }

    pub fn finish(self, state: S, token: Option<Token>) -> Router {
        let not_found = || async { reply::detail(StatusCode::NOT_FOUND, "Not Found") };
        let router = self.router.with_state(state).fallback(not_found);
        let gate = Gate {
            inner: router.clone(),
            token,
        };
        // Around the whole, not around each route: a route says last what it allows.
        Router::new()
            .fallback_service(router)
            .layer(from_fn_with_state(gate, pass))
    }
}

impl<S: Clone + Send + Sync + 'static> Default for Routes<S> {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug, Clone)]
struct Gate {
    /// The routes without the gate, to be asked whether a path is served.
    inner: Router,
    token: Option<Token>,
}

async fn pass(State(gate): State<Gate>, mut request: Request, next: Next) -> Response {
    if let Some(refusal) = refusal(gate.token.as_ref(), request.headers()) {
        return refusal;
    }
    // The original does not serve HEAD: it is answered as a method that nothing serves.
    if request.method() == Method::HEAD {
        *request.method_mut() = Method::TRACE;
    }
    let without_slash = without_slash(&request);
    let response = next.run(request).await;
    match (response.status(), without_slash) {
        (StatusCode::METHOD_NOT_ALLOWED, _) => not_allowed(&response),
        (StatusCode::NOT_FOUND, Some(path)) if gate.serves(&path).await => redirect(&path),
        _ => response,
    }
}

impl Gate {
    async fn serves(&self, path: &str) -> bool {
        let request = Request::builder().method(Method::TRACE).uri(path);
        let Ok(request) = request.body(axum::body::Body::empty()) else {
            return false;
        };
        let routes = TowerToHyperService::new(self.inner.clone());
        let answer = hyper::service::Service::call(&routes, request).await;
        answer.is_ok_and(|answer| answer.status() == StatusCode::METHOD_NOT_ALLOWED)
    }
}

/// Where a path with slashes at its end may have been meant to lead.
fn without_slash(request: &Request) -> Option<String> {
    let path = request.uri().path();
    let shorter = path.strip_suffix('/')?.trim_end_matches('/');
    let query = request.uri().query().map(|query| format!("?{query}"));
    (!shorter.is_empty()).then(|| format!("{shorter}{}", query.unwrap_or_default()))
}

fn redirect(path: &str) -> Response {
    let mut response = reply::detail(StatusCode::TEMPORARY_REDIRECT, "Temporary Redirect");
    if let Ok(location) = HeaderValue::from_str(path) {
        response.headers_mut().insert(header::LOCATION, location);
    }
    response
}

fn not_allowed(found: &Response) -> Response {
    let allowed = found.headers().get(header::ALLOW);
    let allowed = allowed.and_then(|allowed| allowed.to_str().ok());
    let methods: Vec<&str> = allowed
        .unwrap_or_default()
        .split(',')
        .map(str::trim)
        .filter(|method| *method != "HEAD")
        .collect();
    let mut response = reply::detail(StatusCode::METHOD_NOT_ALLOWED, "Method Not Allowed");
    if let Ok(methods) = HeaderValue::from_str(&methods.join(", ")) {
        response.headers_mut().insert(header::ALLOW, methods);
    }
    response
}
