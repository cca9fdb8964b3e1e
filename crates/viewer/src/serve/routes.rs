//! Every address that is answered. Those of `/api` come from its table, from which its description is made
//! too.

use std::sync::Arc;

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, RawPathParams, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::middleware;
use axum::response::Response;
use axum::routing::{MethodRouter, get, on};

use super::app::{App, For};
use super::asked::without;
use super::guard::{Guard, guard};
use super::reply::{Reader, not_so, own_path, see, trouble};
use super::{Asked, Reply, failed, page_routes, pictures};
use crate::api::{self, Does, Parameter};
use crate::error::ViewerError;

/// Nobody has more to say than this.
const LARGEST_BODY: usize = 64 << 10;

/// How an answer is made, on a thread that may wait for files.
pub(crate) type Handler = fn(&App, &Asked) -> Result<Reply, ViewerError>;

pub(crate) fn router(app: Arc<App>, who: Arc<Guard>) -> Router {
    let mut router: Router<Arc<App>> = Router::new();
    for (path, handler) in page_routes::PAGES {
        router = router.route(path, answered(Method::GET, *handler, None));
    }
    for (path, handler) in pictures::PICTURES {
        router = router.route(path, answered(Method::GET, *handler, None));
    }
    for route in api::ROUTES {
        let method = match route.does {
            Does::Get(handler) => answered(Method::GET, handler, Some(route.query)),
            Does::Post(handler, _) => answered(Method::POST, handler, Some(route.query)),
            Does::Listen => get(api::feed),
        };
        router = router.route(route.path, method);
    }
    router
        .fallback(nothing)
        .method_not_allowed_fallback(not_allowed)
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::from_fn_with_state(who, guard))
        .with_state(app)
}

/// `known`: the parameters that it has; of pages, whose scripts have their own, only filters are checked.
fn answered(
    method: Method,
    handler: Handler,
    known: Option<&'static [Parameter]>,
) -> MethodRouter<Arc<App>> {
    let answer = move |State(app): State<Arc<App>>,
                       parts: Result<RawPathParams, _>,
                       address: Uri,
                       headers: HeaderMap,
                       body: Result<Bytes, _>| async move {
        let reader = Reader::of(address.path());
        match make(app, handler, known, parts, &address, body).await {
            Ok(reply) => reply.send(&headers),
            Err(error) => failed(reader, &error),
        }
    };
    if method == Method::POST {
        on(axum::routing::MethodFilter::POST, answer)
    } else {
        get(answer)
    }
}

async fn make(
    app: Arc<App>,
    handler: Handler,
    known: Option<&'static [Parameter]>,
    parts: Result<RawPathParams, axum::extract::rejection::RawPathParamsRejection>,
    address: &Uri,
    body: Result<Bytes, axum::extract::rejection::BytesRejection>,
) -> Result<Reply, ViewerError> {
    let parts = parts.map_err(|error| ViewerError::BadRequest(error.to_string()))?;
    let body = body.map_err(|error| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => {
            ViewerError::TooLarge(format!("a body has at most {LARGEST_BODY} bytes"))
        }
        _ => ViewerError::BadRequest("the body did not come whole".to_owned()),
    })?;
    let asked = Asked::new(&parts, address, body)?;
    if let Some(known) = known {
        asked.only(known)?;
    }
    let whom = whom(&asked, address.path());
    app.work(whom, move |app| handler(app, &asked)).await
}

fn whom(asked: &Asked, path: &str) -> For {
    match asked.part("run") {
        Ok(run) => For::Run(run.to_owned()),
        Err(_) if path.starts_with("/assets/") || path == api::DESCRIPTION => For::Nobody,
        Err(_) => For::Runs,
    }
}

async fn nothing(request: Request) -> Response {
    let address = request.uri();
    let reader = Reader::of(address.path());
    let reads = matches!(*request.method(), Method::GET | Method::HEAD);
    // What is left when somebody shortens an address.
    let shorter = address.path().trim_end_matches('/');
    if reads && shorter.len() < address.path().len() {
        let query = without(address.query().unwrap_or_default(), &[]);
        return see(&format!("{}{query}", own_path(shorter)));
    }
    let status = StatusCode::NOT_FOUND;
    trouble(
        reader,
        status,
        "Not found",
        "there is nothing at this address",
    )
}

async fn not_allowed(request: Request) -> Response {
    not_so(Reader::of(request.uri().path()))
}
