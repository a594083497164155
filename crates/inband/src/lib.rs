//! What of the program do tests and fuzz targets reach? Capture files and the reading of configuration.

pub mod capture;
pub mod config;
