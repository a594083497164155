//! A builder for telemetry reports.
//!
//! ```
//! use inband_testkit::{inner_only, int_report, report_group};
//!
//! let datagram = report_group(3)
//!     .sequence(17)
//!     .with(int_report(0x2000).words(&[900]).inner(3, &[0; 16]))
//!     .with(inner_only())
//!     .build();
//! assert_eq!(datagram.len(), 8 + (4 + 8 + 4 + 16) + 4);
//! ```

/// A datagram of Telemetry Report 2.0, before encoding.
#[derive(Clone, Debug)]
pub struct ReportGroup {
    version: u8,
    hw_id: u8,
    sequence: u32,
    node_id: u32,
    reports: Vec<Individual>,
}

/// An individual report of a group, before encoding.
#[derive(Clone, Debug)]
pub struct Individual {
    report_type: u8,
    inner_type: u8,
    report_length: Option<u8>,
    md_length: Option<u8>,
    flags: u8,
    main: Option<[u16; 4]>,
    metadata: Vec<u8>,
    inner: Vec<u8>,
}

/// A group without reports: version 2, hw_id 0, sequence number 0.
#[must_use]
pub fn report_group(node_id: u32) -> ReportGroup {
    ReportGroup { version: 2, hw_id: 0, sequence: 0, node_id, reports: Vec::new() }
}

/// A report of type INT with these RepMdBits, without metadata and inner contents.
#[must_use]
pub fn int_report(rep_md_bits: u16) -> Individual {
    Individual { report_type: 1, main: Some([rep_md_bits, 0, 0, 0]), ..inner_only() }
}

/// A report of type Inner Only, without inner contents.
#[must_use]
pub fn inner_only() -> Individual {
    Individual {
        report_type: 0,
        inner_type: 0,
        report_length: None,
        md_length: None,
        flags: 0,
        main: None,
        metadata: Vec::new(),
        inner: Vec::new(),
    }
}

impl ReportGroup {
    /// Sets the version.
    #[must_use]
    pub fn version(self, version: u8) -> Self {
        Self { version, ..self }
    }

    /// Sets hw_id, 0 to 63.
    #[must_use]
    pub fn hw_id(self, hw_id: u8) -> Self {
        Self { hw_id, ..self }
    }

    /// Sets the sequence number, 22 bits.
    #[must_use]
    pub fn sequence(self, sequence: u32) -> Self {
        Self { sequence, ..self }
    }

    /// Appends a report.
    #[must_use]
    pub fn with(mut self, report: Individual) -> Self {
        self.reports.push(report);
        self
    }

    /// Writes the payload of the UDP datagram.
    #[must_use]
    pub fn build(&self) -> Vec<u8> {
        let first = u32::from(self.version) * (1 << 28) + u32::from(self.hw_id) * (1 << 22) + self.sequence;
        let mut bytes = [first.to_be_bytes(), self.node_id.to_be_bytes()].concat();
        bytes.extend(self.reports.iter().flat_map(Individual::bytes));
        bytes
    }
}

impl Individual {
    /// Sets D, Q, F and I (0x80, 0x40, 0x20, 0x10) and the reserved bits.
    #[must_use]
    pub fn flags(self, flags: u8) -> Self {
        Self { flags, ..self }
    }

    /// Sets RepType.
    #[must_use]
    pub fn report_type(self, report_type: u8) -> Self {
        Self { report_type, ..self }
    }

    /// Sets Report Length, correct or not.
    #[must_use]
    pub fn report_length(self, words: u8) -> Self {
        Self { report_length: Some(words), ..self }
    }

    /// Sets MD Length, correct or not.
    #[must_use]
    pub fn md_length(self, words: u8) -> Self {
        Self { md_length: Some(words), ..self }
    }

    /// Sets Domain Specific ID, DSMdBits and DSMdstatus of an INT report.
    #[must_use]
    pub fn domain(mut self, id: u16, bits: u16, status: u16) -> Self {
        if let Some(main) = &mut self.main {
            main[1..].copy_from_slice(&[id, bits, status]);
        }
        self
    }

    /// Adds words of metadata.
    #[must_use]
    pub fn words(mut self, words: &[u32]) -> Self {
        self.metadata.extend(words.iter().flat_map(|word| word.to_be_bytes()));
        self
    }

    /// Sets InType and the inner contents.
    #[must_use]
    pub fn inner(self, inner_type: u8, inner: &[u8]) -> Self {
        Self { inner_type, inner: inner.to_vec(), ..self }
    }

    /// Writes the report.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let main: Vec<u8> = self.main.iter().flatten().flat_map(|field| field.to_be_bytes()).collect();
        let contents = [main, self.metadata.clone(), self.inner.clone()].concat();
        let words = |bytes: &[u8]| u8::try_from(bytes.len() / 4).unwrap_or(u8::MAX);
        let report_length = self.report_length.unwrap_or_else(|| words(&contents));
        let md_length = self.md_length.unwrap_or_else(|| words(&self.metadata));
        let types = self.report_type * 16 + self.inner_type;
        [&[types, report_length, md_length, self.flags], contents.as_slice()].concat()
    }
}
