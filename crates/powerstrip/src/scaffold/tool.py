import json
import sys


def run(input):
    return {"greeting": f"Hello, {input['name']}!"}


request = json.loads(sys.stdin.readline())
print(json.dumps(run(request["input"])))
