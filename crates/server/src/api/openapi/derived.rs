//! Schemas of answers, derived from the types they are written from.

use inband_model::LedgerView;
use inband_model::api::{
    About, Completion, DecodeQuestion, Decoded, DecodedCapture, Drops, Ecmp, FabricMap, FlowHistory,
    FlowList, Heat, KeptReport, Packets, Problem, QueueTimeline, ReportList, Summary,
};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

/// The schemas of these types and of all they consist of, by their names.
pub(super) fn schemas() -> Map<String, Value> {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = SchemaGenerator::new(settings);
    let generator = &mut generator;
    add::<About>(generator);
    add::<Completion>(generator);
    add::<DecodeQuestion>(generator);
    add::<Decoded>(generator);
    add::<DecodedCapture>(generator);
    add::<Drops>(generator);
    add::<Ecmp>(generator);
    add::<FabricMap>(generator);
    add::<FlowHistory>(generator);
    add::<FlowList>(generator);
    add::<Heat>(generator);
    add::<KeptReport>(generator);
    add::<LedgerView>(generator);
    add::<Packets>(generator);
    add::<Problem>(generator);
    add::<QueueTimeline>(generator);
    add::<ReportList>(generator);
    add::<Summary>(generator);
    generator.take_definitions(true)
}

fn add<T: JsonSchema>(generator: &mut SchemaGenerator) {
    // Its definition is what is wanted, not the reference to it.
    let _ = generator.subschema_for::<T>();
}
