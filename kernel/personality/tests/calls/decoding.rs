//! A number and its arguments are one call, or none of Margay's.

use lwk_abi::limic::{self, IF_AWAITED, READS};
use lwk_abi::syscall::errno::ENOSYS;
use lwk_abi::syscall::{MARGAY_BASE, portals};
use lwk_limic::Side;
use lwk_personality::{Call, LimicCall};

use crate::home::{Program, error};

#[test]
fn each_number_of_limics_is_its_call() {
    let [first, second, third, rest] = [1 << 32 | 1, 1 << 32 | 2, 1 << 32 | 3, 0];
    let expected = [
        LimicCall::TxInit { buffer: first, bytes: second, descriptor: third },
        LimicCall::RxComp { buffer: first, bytes: second, descriptor: third },
        LimicCall::TxComp { buffer: first, bytes: second, descriptor: third },
        LimicCall::Isend { request: first, if_awaited: false },
        LimicCall::Irecv { request: first, if_awaited: false },
        LimicCall::Wait { request: first },
        LimicCall::Iprobe { request: first },
        LimicCall::Withdraw { request: first, side: None },
        LimicCall::Relocate { request: first, buffer: second, side: None },
        LimicCall::Iwrite { request: first, way: second },
        LimicCall::Iread { request: first, way: second },
        LimicCall::Icopy { copy: first, way: second },
        LimicCall::Workers,
        LimicCall::Check,
        LimicCall::Counts { counts: first },
        LimicCall::Fault { after: first, fault: second },
    ];
    let decoded: Vec<_> =
        limic::RANGE.map(|number| Call::new(number, [first, second, third, rest, rest, rest])).collect();
    assert_eq!(decoded, expected.map(Call::Limic));

    let decode = |number, second, third| LimicCall::new(number, [first, second, third]);
    let side = Some(Side::Reads);
    assert_eq!(
        [
            decode(limic::ISEND, IF_AWAITED, 0),
            decode(limic::IRECV, IF_AWAITED, 0),
            decode(limic::WITHDRAW, READS, 0),
            decode(limic::RELOCATE, second, READS),
        ],
        [
            Some(LimicCall::Isend { request: first, if_awaited: true }),
            Some(LimicCall::Irecv { request: first, if_awaited: true }),
            Some(LimicCall::Withdraw { request: first, side }),
            Some(LimicCall::Relocate { request: first, buffer: second, side }),
        ]
    );
}

#[test]
fn portals_numbers_are_portals_calls() {
    for number in portals::RANGE {
        let call = lwk_portals::Call::new(number, [1, 2, 3, 4]).expect("a call of Portals'");
        assert_eq!(Call::new(number, [1, 2, 3, 4, 5, 6]), Call::Portals(call), "{number:#x}");
    }
}

#[test]
fn numbers_between_are_nobodys() {
    let mut program = Program::new();
    let unknown = [MARGAY_BASE + 8, portals::RANGE.start() - 1, portals::RANGE.end() + 1]
        .into_iter()
        .chain([limic::RANGE.start() - 1, limic::RANGE.end() + 1, u64::MAX]);
    for number in unknown {
        assert_eq!(Call::new(number, [0; 6]), Call::Linux { number, arguments: [0; 6] });
        assert_eq!(program.call(number, &[]), error(ENOSYS), "{number:#x}");
        assert_eq!(program.node.unsupported.borrow_mut().pop(), Some(number));
    }
}
