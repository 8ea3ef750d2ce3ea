import json
import unittest

from server import answer


def ask(method, **params):
    return answer(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))


class ServerTest(unittest.TestCase):
    def test_greets(self):
        result = ask("tools/call", name="greet", arguments={"name": "Ada"})["result"]
        self.assertEqual(result["structuredContent"], {"greeting": "Hello, Ada!"})

    def test_bad_arguments_are_reported_to_the_model(self):
        result = ask("tools/call", name="greet", arguments={"nam": "Ada"})["result"]
        self.assertTrue(result["isError"])

    def test_unknown_methods_are_refused(self):
        self.assertEqual(ask("no/such")["error"]["code"], -32601)

    def test_garbage_is_refused(self):
        self.assertEqual(answer("{")["error"]["code"], -32700)


if __name__ == "__main__":
    unittest.main()
