//! An assembler for small BPF programs, with labels for jump targets.

/// The instructions so far, each a `struct bpf_insn`.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    code: Vec<Instruction>,
    /// Positions of the labels.
    labels: Vec<(Label, usize)>,
}

#[derive(Clone, Copy, Debug)]
struct Instruction {
    code: u8,
    destination: u8,
    source: u8,
    offset: i16,
    immediate: i32,
    /// The label it jumps to; `None`: no jump.
    target: Option<Label>,
}

/// A position in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Label {
    V4,
    V6,
    Load,
    Lookup,
    Unknown,
    UnknownV6,
    Untagged,
    Pass,
    Give,
    Drop,
}

/// A register; `R10` points behind the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Register {
    R0,
    R1,
    R2,
    R3,
    R4,
    R6 = 6,
    R7,
    R8,
    R10 = 10,
}

impl Assembly {
    /// `to = from`.
    pub(crate) fn copy(&mut self, to: Register, from: Register) -> &mut Self {
        self.push(0xbf, to as u8, from as u8, 0, 0)
    }

    /// `to = number`.
    pub(crate) fn set(&mut self, to: Register, number: i32) -> &mut Self {
        self.push(0xb7, to as u8, 0, 0, number)
    }

    /// `to += number`.
    pub(crate) fn add(&mut self, to: Register, number: i32) -> &mut Self {
        self.push(0x07, to as u8, 0, 0, number)
    }

    /// `to &= number`.
    pub(crate) fn and(&mut self, to: Register, number: i32) -> &mut Self {
        self.push(0x57, to as u8, 0, 0, number)
    }

    /// `to` becomes the byte at `from + offset`.
    pub(crate) fn load_byte(&mut self, to: Register, from: Register, offset: i16) -> &mut Self {
        self.push(0x71, to as u8, from as u8, offset, 0)
    }

    /// `to` becomes the 16 bits at `from + offset`.
    pub(crate) fn load_half(&mut self, to: Register, from: Register, offset: i16) -> &mut Self {
        self.push(0x69, to as u8, from as u8, offset, 0)
    }

    /// `to` becomes the 32 bits at `from + offset`.
    pub(crate) fn load_word(&mut self, to: Register, from: Register, offset: i16) -> &mut Self {
        self.push(0x61, to as u8, from as u8, offset, 0)
    }

    /// `to = number`.
    pub(crate) fn load_long(&mut self, to: Register, number: u64) -> &mut Self {
        self.wide(to, 0, number)
    }

    /// `to` becomes the map with this number.
    pub(crate) fn load_map(&mut self, to: Register, map: u32) -> &mut Self {
        self.wide(to, 1, map.into())
    }

    /// The 32 bits at `to + offset` become those of `from`.
    pub(crate) fn store(&mut self, to: Register, offset: i16, from: Register) -> &mut Self {
        self.push(0x63, to as u8, from as u8, offset, 0)
    }

    /// The 64 bits at `to + offset` become those of `from`.
    pub(crate) fn store_long(&mut self, to: Register, offset: i16, from: Register) -> &mut Self {
        self.push(0x7b, to as u8, from as u8, offset, 0)
    }

    /// The 32 bits at `to + offset` become `number`.
    pub(crate) fn store_word(&mut self, to: Register, offset: i16, number: i32) -> &mut Self {
        self.push(0x62, to as u8, 0, offset, number)
    }

    /// Calls the helper with this number; its result is in `R0`.
    pub(crate) fn call(&mut self, helper: i32) -> &mut Self {
        self.push(0x85, 0, 0, 0, helper)
    }

    /// Calls the kernel function with this id in its BTF.
    pub(crate) fn call_kernel(&mut self, function: u32) -> &mut Self {
        self.push(0x85, 0, 2, 0, i32::from_ne_bytes(function.to_ne_bytes()))
    }

    pub(crate) fn jump(&mut self, to: Label) -> &mut Self {
        self.branch(0x05, 0, 0, 0, to)
    }

    pub(crate) fn jump_if_equal(&mut self, value: Register, number: i32, to: Label) -> &mut Self {
        self.branch(0x15, value as u8, 0, number, to)
    }

    pub(crate) fn jump_unless_equal(&mut self, value: Register, number: i32, to: Label) -> &mut Self {
        self.branch(0x55, value as u8, 0, number, to)
    }

    /// Jumps if `value` is above `number`, both unsigned.
    pub(crate) fn jump_if_more(&mut self, value: Register, number: i32, to: Label) -> &mut Self {
        self.branch(0x25, value as u8, 0, number, to)
    }

    /// Jumps if `value` is above `other`, both unsigned.
    pub(crate) fn jump_if_above(&mut self, value: Register, other: Register, to: Label) -> &mut Self {
        self.branch(0x2d, value as u8, other as u8, 0, to)
    }

    pub(crate) fn exit(&mut self) -> &mut Self {
        self.push(0x95, 0, 0, 0, 0)
    }

    /// The next instruction is at `label`.
    pub(crate) fn label(&mut self, label: Label) {
        self.labels.push((label, self.code.len()));
    }

    /// Returns the program; jumps to an undefined label go to the end, which the kernel refuses.
    pub(crate) fn finish(self) -> Vec<u64> {
        let place = |label: Label| self.labels.iter().find(|(known, _)| *known == label).map(|(_, at)| *at);
        let encode = |(at, instruction): (usize, &Instruction)| {
            let Instruction { code, destination, source, mut offset, immediate, target } = *instruction;
            if let Some(target) = target {
                // Distances count from the instruction behind the jump.
                let to = place(target).unwrap_or(self.code.len());
                offset = i16::try_from(to.wrapping_sub(at + 1).cast_signed()).unwrap_or_default();
            }
            encoded(code, destination, source, offset, immediate)
        };
        self.code.iter().enumerate().map(encode).collect()
    }

    fn wide(&mut self, to: Register, source: u8, number: u64) -> &mut Self {
        let bytes = number.to_le_bytes();
        let half = |at: usize| {
            bytes.get(at..).and_then(|half| half.first_chunk()).map_or(0, |half| i32::from_le_bytes(*half))
        };
        self.push(0x18, to as u8, source, 0, half(0)).push(0, 0, 0, 0, half(4))
    }

    fn push(&mut self, code: u8, destination: u8, source: u8, offset: i16, immediate: i32) -> &mut Self {
        self.code.push(Instruction { code, destination, source, offset, immediate, target: None });
        self
    }

    fn branch(&mut self, code: u8, destination: u8, source: u8, immediate: i32, to: Label) -> &mut Self {
        self.code.push(Instruction { code, destination, source, offset: 0, immediate, target: Some(to) });
        self
    }
}

/// `struct bpf_insn`.
fn encoded(code: u8, destination: u8, source: u8, offset: i16, immediate: i32) -> u64 {
    let registers =
        if cfg!(target_endian = "little") { source << 4 | destination } else { destination << 4 | source };
    let ([a, b], [c, d, e, f]) = (offset.to_ne_bytes(), immediate.to_ne_bytes());
    u64::from_ne_bytes([code, registers, a, b, c, d, e, f])
}
