//! The routes of the API.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{delete, get, post};

use super::problem::Problem;
use super::shared_answers::SharedAnswers;
use super::unsent::Unsent;
use super::{
    Shared, about, between, compress, decode, drops, ecmp, events, flow_history, flow_list, guard, heat, map,
    openapi, packets, page, query, queue_timeline, reports, shared_answers, stream, summary, talkers, unsent,
    views,
};

/// All routes; those that reveal only whether the program works need no token.
pub(super) fn router(state: Shared) -> Router {
    let index = Router::new()
        .route("/", get(openapi::index))
        .route_layer(from_fn_with_state(state.clone(), guard::guard_reading))
        .route_layer(from_fn_with_state(state.clone(), page::or_index));
    let guarded = Router::new()
        .route("/metrics", get(views::metrics))
        .route("/api/v1/openapi.json", get(openapi::document))
        .route("/api/v1/ledger", get(views::ledger))
        .route("/api/v1/links", get(views::links))
        .route("/api/v1/links/{id}/flows", get(between::link_flows))
        .route("/api/v1/paths", get(between::paths))
        .route("/api/v1/talkers", get(talkers::talkers))
        .route("/api/v1/topology", get(views::topology))
        .route("/api/v1/interfaces", get(views::interfaces))
        .route("/api/v1/flows/{id}", get(views::flow))
        .route("/api/v1/filter/complete", get(flow_list::complete))
        .route("/api/v1/flows/{id}/packets", get(packets::packets))
        .route("/api/v1/flows/{id}/history", get(flow_history::history))
        .route("/api/v1/queues/timeline", get(queue_timeline::timeline))
        .route("/api/v1/heat", get(heat::heat))
        .route("/api/v1/drops", get(drops::drops))
        .route("/api/v1/about", get(about::about))
        .route("/api/v1/events", get(events::events))
        .route("/api/v1/events/{id}", get(events::event))
        .route("/api/v1/reports", get(reports::reports))
        .route("/api/v1/reports/{node}/{hw_id}/{sequence}", get(reports::report))
        .route("/api/v1/silences", get(events::silences))
        .route("/api/v1/query", post(query::query))
        .route("/api/v1/decode", post(decode::decode).layer(DefaultBodyLimit::disable()))
        .route("/api/v1/stream", get(stream::stream))
        .route_layer(from_fn_with_state(state.clone(), guard::guard_reading));
    let costly = Router::new()
        .route("/api/v1/nodes", get(views::nodes))
        .route("/api/v1/queues", get(views::queues))
        .route("/api/v1/flows", get(views::flows))
        .route("/api/v1/flows/search", get(flow_list::search))
        .route("/api/v1/map", get(map::map))
        .route("/api/v1/ecmp", get(ecmp::ecmp))
        .route("/api/v1/summary", get(summary::summary))
        .route_layer(from_fn(compress::answers))
        .route_layer(from_fn_with_state(Arc::<SharedAnswers>::default(), shared_answers::shared))
        .route_layer(from_fn_with_state(state.clone(), guard::guard_reading));
    let changes = Router::new()
        .route("/api/v1/events/{id}/acknowledge", post(events::acknowledge))
        .route("/api/v1/silences", post(events::silence))
        .route("/api/v1/silences/{number}", delete(events::lift))
        .route_layer(from_fn_with_state(state.clone(), guard::guard_changes));
    let unsent = Arc::new(Unsent::new(state.settings.query_bytes));
    Router::new()
        .route("/healthz", get(views::health))
        .route("/readyz", get(views::ready))
        .route("/page/{name}", get(page::file))
        .merge(index)
        .merge(guarded)
        .merge(costly)
        .merge(changes)
        .fallback(page::or_nothing)
        .method_not_allowed_fallback(async || Problem::no_such_method())
        .layer(from_fn(compress::answers))
        .layer(from_fn_with_state(unsent, unsent::answers))
        .with_state(state)
}
