//! Schemas of requests and answers, derived from the types they are parsed into and written from.

use inband_model::api::{
    About, Completion, DecodeQuestion, Decoded, DecodedCapture, Drops, Ecmp, FabricMap, FlowHistory,
    FlowList, FlowPaths, Heat, KeptReport, NamedEvent, NamedPort, NamedQueue, NamedTopology, Nothing, Number,
    NumberedSilence, Packets, PathBetween, Problem, QueueTimeline, ReportList, Rows, SqlQuestion, Summary,
    Talkers,
};
use inband_model::{Acknowledgement, LedgerView, Silence};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// The schemas of these types and of all types they contain, by name.
pub(super) fn schemas() -> Map<String, Value> {
    let mut schemas = answers();
    // Types that may be sent have optional keys, even where an answer always has them.
    schemas.extend(bodies());
    schemas
}

/// Types of answers: a key that is always present is required.
fn answers() -> Map<String, Value> {
    let mut generator = SchemaGenerator::new(settings().for_serialize());
    let generator = &mut generator;
    add::<About>(generator);
    add::<Completion>(generator);
    add::<Decoded>(generator);
    add::<DecodedCapture>(generator);
    add::<Drops>(generator);
    add::<Ecmp>(generator);
    add::<FabricMap>(generator);
    add::<FlowHistory>(generator);
    add::<FlowList>(generator);
    add::<FlowPaths<'static>>(generator);
    add::<Heat>(generator);
    add::<KeptReport>(generator);
    add::<LedgerView>(generator);
    add::<NamedEvent<'static>>(generator);
    add::<NamedPort<'static>>(generator);
    add::<NamedQueue<'static>>(generator);
    add::<NamedTopology<'static>>(generator);
    add::<Nothing>(generator);
    add::<Number>(generator);
    add::<NumberedSilence>(generator);
    add::<Packets>(generator);
    add::<PathBetween<'static>>(generator);
    add::<Problem>(generator);
    add::<QueueTimeline>(generator);
    add::<ReportList>(generator);
    add::<Rows<Value>>(generator);
    add::<Summary>(generator);
    add::<Talkers>(generator);
    generator.take_definitions(true)
}

/// Types of request bodies.
fn bodies() -> Map<String, Value> {
    let mut generator = SchemaGenerator::new(settings());
    let generator = &mut generator;
    add::<Acknowledgement>(generator);
    add::<DecodeQuestion>(generator);
    add::<Silence>(generator);
    add::<SqlQuestion>(generator);
    generator.take_definitions(true)
}

fn settings() -> SchemaSettings {
    SchemaSettings::draft2020_12().with(|settings| settings.definitions_path = "/components/schemas".into())
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    // Only the definition is needed, not the reference to it.
    let _ = generator.subschema_for::<T>();
}
