//! Clients that users have, unmodified.

use std::process::Command;

use crate::Fixture;

fn output(program: &str, arguments: &[&str]) -> String {
    let done =
        Command::new(program).args(arguments).output().unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
#[ignore = "long: about 2 s; needs redis-cli, curl, and redis-py in ONEREAD_PYTHON"]
fn redis_cli_curl_and_redis_py_read_a_store() {
    let fixture = Fixture::new();
    let port = fixture.server.resp().unwrap().port().to_string();
    assert_eq!(output("redis-cli", &["-p", &port, "get", "key 42"]), "value 42 of 1\n");
    assert_eq!(output("redis-cli", &["-3", "-p", &port, "mget", "key 1", "none"]), "value 1 of 1\n\n");
    let url = format!("http://{}/v1/a", fixture.http());
    assert_eq!(output("curl", &["-sf", &format!("{url}/key%2042")]), "value 42 of 1");
    let batch = format!("{url}/batch");
    let rows = output("curl", &["-sf", &batch, "-d", r#"{"keys": ["key 1", "none"]}"#]);
    assert_eq!(rows, "{\"values\":[{\"key\":\"key 1\",\"value\":\"value 1 of 1\"},null]}\n");
    let python = std::env::var("ONEREAD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let program = "
import redis, sys
for protocol in (2, 3):
    client = redis.Redis(port=int(sys.argv[1]), protocol=protocol)
    assert client.get('key 42') == b'value 42 of 1' and client.get('none') is None
    assert client.mget('key 1', 'none') == [b'value 1 of 1', None]
    assert client.exists('key 1', 'none') == 1 and client.ping() and client.dbsize() == 1000
    with client.pipeline(transaction=False) as pipe:
        for number in range(2000):
            pipe.get(f'key {number}')
        wanted = [f'value {n} of 1'.encode() if n < 1000 else None for n in range(2000)]
        assert pipe.execute() == wanted
    try:
        client.set('a', 'b')
        raise SystemExit('a change of a sealed store')
    except redis.exceptions.ReadOnlyError:
        pass
print('ok')
";
    assert_eq!(output(&python, &["-c", program, &port]), "ok\n");
    fixture.server.stop();
}
