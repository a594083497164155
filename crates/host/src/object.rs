//! Compiled programs, completed for the running kernel.
//!
//! The programs read the kernel's structures by functions of the kernel (`bpf/cast.h`). A call of such a
//! function contains its number in the kernel's types, which differs between kernels, so the compiled
//! programs contain placeholders.

use aya::{Ebpf, EbpfError, EbpfLoader};
use aya_obj::btf::{Btf, BtfKind};

/// Loads an object's maps and completes its programs; `prepare` sets other options of the loader.
///
/// # Errors
/// The kernel does not describe its types or has no such functions (before 6.2), or refuses a map.
pub fn load(object: &[u8], prepare: impl FnOnce(&mut EbpfLoader<'_>)) -> Result<Ebpf, EbpfError> {
    let types = Btf::from_sys_fs()?;
    let mut object = object.to_vec();
    for (placeholder, function) in FUNCTIONS {
        let number = types.id_by_type_name_kind(function, BtfKind::Func)?;
        complete(&mut object, placeholder, number);
    }
    let mut loader = EbpfLoader::new();
    loader.btf(Some(&types));
    prepare(&mut loader);
    loader.load(&object)
}

/// Puts a function's number into its calls, which are aligned as the instructions of all programs are.
fn complete(object: &mut [u8], placeholder: u32, number: u32) {
    for instruction in object.as_chunks_mut::<INSTRUCTION_BYTES>().0 {
        if *instruction == call(placeholder) {
            *instruction = call(number);
        }
    }
}

/// The instruction that calls a function of the kernel.
fn call(number: u32) -> [u8; INSTRUCTION_BYTES] {
    let [a, b, c, d] = number.to_le_bytes();
    [BPF_JMP_CALL, BPF_PSEUDO_KFUNC_CALL << 4, 0, 0, a, b, c, d]
}

/// The placeholder of each function.
const FUNCTIONS: [(u32, &str); 2] = [(0x696e_0001, "bpf_cast_to_kern_ctx"), (0x696e_0002, "bpf_rdonly_cast")];
const INSTRUCTION_BYTES: usize = 8;
const BPF_JMP_CALL: u8 = 0x85;
const BPF_PSEUDO_KFUNC_CALL: u8 = 2;

#[cfg(test)]
mod tests {
    use super::{call, complete};

    #[test]
    fn only_calls_of_the_function_get_its_number() {
        let mut object = [call(7), call(8), call(7), [7; 8]].concat();
        object.extend([0x85, 0x20, 0]);
        let mut expected = [call(700), call(8), call(700), [7; 8]].concat();
        expected.extend([0x85, 0x20, 0]);
        complete(&mut object, 7, 700);
        assert_eq!(object, expected);
    }
}
