//! A port inside of a container that is answered outside.

use std::io::{Read, Write};

use super::fixture::{sandbox, text};
use super::refused::refused;

const PORT: u16 = 4141;

/// Bash knows how to call, whatever else the image holds.
const CALL: &str =
    "bash -c 'exec {call}<>/dev/tcp/127.0.0.1/4141; printf hello >&$call; cat <&$call'";

#[tokio::test]
async fn programs_inside_are_answered_outside_until_the_port_is_dropped() {
    let sandbox = sandbox().await;
    let listener = sandbox.listen(PORT).await.unwrap();
    let answer = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0; 5];
        stream.read_exact(&mut asked).unwrap();
        stream.write_all(b"from outside").unwrap();
        asked
    });
    assert_eq!(text(sandbox.as_ref(), CALL).await, "from outside");
    assert_eq!(&answer.join().unwrap(), b"hello");

    let said = refused(sandbox.as_ref(), CALL).await;
    assert!(said.contains("Connection refused"), "{said}");
    sandbox.destroy().await;
}
