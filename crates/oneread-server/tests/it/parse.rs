//! The parser of commands: pieces, limits, and bytes that are no command.

use oneread_server::serve::resp::parse::{CommandLimits, Parser};
use proptest::collection::vec;
use proptest::prelude::*;
use redis_protocol::resp2::decode::decode;
use redis_protocol::resp2::types::OwnedFrame;

use crate::encoded;

const LIMITS: CommandLimits = CommandLimits { arguments: 8, bytes: 1000 };

/// All commands of some bytes that arrive in pieces, and whether an error ended them.
fn parsed(bytes: &[u8], pieces: &[usize]) -> (Vec<Vec<Vec<u8>>>, bool) {
    let (mut commands, mut parser, mut start) = (Vec::new(), Parser::new(), 0);
    let mut ends: Vec<usize> = pieces
        .iter()
        .scan(0, |end, piece| {
            *end += piece;
            Some(*end)
        })
        .take_while(|&end| end < bytes.len())
        .collect();
    ends.push(bytes.len());
    for end in ends {
        loop {
            let input = &bytes[start..end];
            match parser.parse(input, LIMITS) {
                Err(_) => return (commands, true),
                Ok(None) => break,
                Ok(Some(length)) => {
                    let arguments = parser.arguments();
                    if !arguments.is_empty() {
                        commands.push(arguments.iter().map(|range| input[range.clone()].to_vec()).collect());
                    }
                    assert!(length > 0 && length <= input.len());
                    start += length;
                }
            }
        }
    }
    (commands, false)
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        commands in vec(vec(vec(any::<u8>(), 0..20), 1..8), 0..6),
        pieces in vec(1usize..30, 0..60),
    ) {
        let borrowed = |command: &Vec<Vec<u8>>| encoded(&command.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let bytes: Vec<u8> = commands.iter().flat_map(borrowed).collect();
        prop_assert_eq!(parsed(&bytes, &pieces), (commands, false));
    }

    #[test]
    fn bytes_that_are_no_command_are_errors_wherever_they_are_cut(
        bytes in vec(prop_oneof![
            Just(b'*'), Just(b'$'), Just(b'\r'), Just(b'\n'), Just(b'-'), b'0'..=b'9', any::<u8>(),
        ], 0..200),
        pieces in vec(1usize..30, 0..60),
    ) {
        prop_assert_eq!(parsed(&bytes, &pieces), parsed(&bytes, &[]));
    }

    /// What another project's decoder takes for an array of strings is the same here.
    #[test]
    fn another_decoder_agrees(bytes in vec(prop_oneof![
        Just(b"*1\r\n".to_vec()), Just(b"*2\r\n".to_vec()), Just(b"$1\r\n".to_vec()), Just(b"$0\r\n".to_vec()),
        Just(b"\r\n".to_vec()), Just(b"a".to_vec()), Just(b"a\r\n".to_vec()),
    ], 0..8)) {
        let bytes = [b"*2\r\n$1\r\n".to_vec(), bytes.concat()].concat();
        let text = |frame: &OwnedFrame| match frame {
            OwnedFrame::BulkString(text) => Some(text.clone()),
            _ => None,
        };
        if let Ok(Some((OwnedFrame::Array(frames), length))) = decode(&bytes)
            && let Some(theirs) = frames.iter().map(text).collect::<Option<Vec<_>>>()
        {
            let (ours, failed) = parsed(&bytes[..length], &[]);
            // It does not look at the bytes where a string must end.
            prop_assert!(failed || ours == [theirs]);
        }
    }
}

#[test]
fn limits_hold_before_the_bytes_are_there() {
    for (begin, is_refused) in [
        (&b"*8\r\n"[..], false),
        (b"*9\r\n", true),
        (b"*1000000000\r\n", true),
        (b"*99999999999999999999\r\n", true),
        (b"*1\r\n$900\r\n", false),
        (b"*1\r\n$1000\r\n", true),
        (b"*1\r\n$-1\r\n", true),
        (b"*1\r\n$9223372036854775807\r\n", true),
        (b"*1\r\n*1\r\n", true),
        (b"*+1\r\n", true),
        (b"*\r\n", true),
        (b"*000000000000000000000000000001\r\n", true),
    ] {
        assert_eq!(Parser::new().parse(begin, LIMITS).is_err(), is_refused, "{}", begin.escape_ascii());
    }
    assert!(Parser::new().parse(&[b'a'; 1000], LIMITS).is_err());
    assert_eq!(parsed(b"*0\r\n*-1\r\n\r\n  PING \t x\n", &[]).0, [[b"PING".to_vec(), b"x".to_vec()]]);
}
