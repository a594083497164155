//! The nouns of INT after decoding: node, flow, hop, path, observation, event.
