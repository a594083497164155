//! The part of the program that tests and fuzz targets reach: the reading of configuration.

pub mod config;
