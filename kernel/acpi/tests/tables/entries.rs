//! Entries of tables.

/// Entries of an MADT.
pub fn local_apic(uid: u8, id: u8, flags: u32) -> Vec<u8> {
    [&[0, 8, uid, id][..], &flags.to_le_bytes()].concat()
}

pub fn local_x2apic(uid: u32, id: u32, flags: u32) -> Vec<u8> {
    [&[9, 16, 0, 0][..], &id.to_le_bytes(), &flags.to_le_bytes(), &uid.to_le_bytes()].concat()
}

/// Entries of an SRAT.
pub fn near_core(id: u8, domain: u32, flags: u32) -> Vec<u8> {
    let [low, high @ ..] = domain.to_le_bytes();
    [&[0, 16, low, id][..], &flags.to_le_bytes(), &[0], &high, &[0; 4]].concat()
}

pub fn near_core_x2(id: u32, domain: u32, flags: u32) -> Vec<u8> {
    let [domain, id, flags] = [domain, id, flags].map(u32::to_le_bytes);
    [&[2, 24, 0, 0][..], &domain, &id, &flags, &[0; 8]].concat()
}

pub fn near_memory(start: u64, bytes: u64, domain: u32, flags: u32) -> Vec<u8> {
    let (start, bytes) = (start.to_le_bytes(), bytes.to_le_bytes());
    [&[1, 40][..], &domain.to_le_bytes(), &[0; 2], &start, &bytes, &[0; 4], &flags.to_le_bytes(), &[0; 8]]
        .concat()
}

/// A structure of an HMAT: values of `data` (section 5.2.27.4) between domains.
pub fn locality(data: u8, unit: u64, domains: &[u32], values: &[u16]) -> Vec<u8> {
    let count = (domains.len() as u32).to_le_bytes();
    let list: Vec<u8> = domains.iter().flat_map(|domain| domain.to_le_bytes()).collect();
    let values: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let length = (32 + 2 * list.len() + values.len()) as u32;
    let head = [&[1, 0, 0, 0][..], &length.to_le_bytes(), &[0, data, 0, 0], &count, &count, &[0; 4]].concat();
    [&head[..], &unit.to_le_bytes(), &list, &list, &values].concat()
}
