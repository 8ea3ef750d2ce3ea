# Runs a pack's Python code for Powerstrip: once, or line by line for as long as stdin is open.
#
# Requests and replies travel over private copies of stdin and stdout. The code itself sees /dev/null and stderr
# there (a function), or files of its own for each call (a script): whatever it prints cannot pass for a reply.
#
# Only what every call needs is imported: each further module costs milliseconds of a cold start.
import io
import json
import os
import sys


def private_pipes():
    requests = os.fdopen(os.dup(0), "rb")
    replies = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, replies


def encode(value):
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def explain(error):
    import traceback

    traceback.print_exception(type(error), error, error.__traceback__)
    return "".join(traceback.format_exception_only(type(error), error)).strip()


def threads():
    threading = sys.modules.get("threading")
    return threading.active_count() if threading else 1


def forbid_reading_memory():
    """Keeps processes that the code starts from reading this one's memory, which holds later requests."""
    if sys.platform != "linux":
        return
    try:
        import ctypes

        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
    except Exception:
        pass  # An interpreter without ctypes: what a call started still ends before the next one begins.


def scratch_file():
    try:
        return os.memfd_create("powerstrip")
    except (AttributeError, OSError):
        import tempfile

        with tempfile.TemporaryFile() as file:
            return os.dup(file.fileno())


class Function:
    def __init__(self, module, name, *search):
        sys.path[:0] = search
        __import__(module)
        self.function = getattr(sys.modules[module], name)
        code = getattr(self.function, "__code__", None)
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount] if code else ()
        self.wants_meta = "meta" in parameters
        self.threads = threads()

    def answer(self, request, _line):
        more = {"meta": request.get("meta", {})} if self.wants_meta else {}
        result = self.function(request["input"], **more)
        if hasattr(result, "__await__"):
            import asyncio

            async def wait(awaitable):
                return await awaitable

            result = asyncio.run(wait(result))
        return {"data": result}

    def can_stay(self):
        # A thread that outlives its call could read the input of a later one.
        return threads() <= self.threads


class Script:
    """A script that reads one line from stdin and prints one, run again for each call with its own globals."""

    def __init__(self, path, limit):
        self.path, self.limit = path, int(limit)
        with io.open_code(path) as file:
            self.code = compile(file.read(), path, "exec")
        sys.path[0:1] = [os.path.dirname(path)]
        self.folder, self.environment = os.getcwd(), dict(os.environ)

    def answer(self, _request, line):
        module = type(sys)("__main__")
        module.__file__ = self.path
        sys.modules["__main__"] = module
        sys.argv = [self.path]
        given, printed = scratch_file(), scratch_file()
        os.write(given, line)
        os.lseek(given, 0, os.SEEK_SET)
        os.dup2(given, 0)
        os.dup2(printed, 1)
        sys.stdin = open(0, encoding="utf-8", closefd=False)
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
        status, why, raised = 0, "", None
        try:
            exec(self.code, module.__dict__)
        except SystemExit as end:
            if end.code is None or isinstance(end.code, int):
                status = (end.code or 0) & 0xFF  # As a process would end.
            else:
                status, why = 1, str(end.code)
        except Exception as error:
            raised = error
        finally:
            sys.stdout.flush()
            os.dup2(2, 1)
            size = os.fstat(printed).st_size
            text = os.pread(printed, min(size, self.limit + 1), 0)
            os.close(given)
            os.close(printed)
            os.chdir(self.folder)
            os.environ.clear()
            os.environ.update(self.environment)
        if size > self.limit:
            return {"size": size}
        if raised and not text.strip():
            raise raised
        if raised:
            status, why = 1, explain(raised)
        return {"printed": text.decode("utf-8", "replace"), "status": status, "why": why}

    def can_stay(self):
        # A thread of an earlier call could print into a later one.
        return threads() == 1


def serve(code, requests, replies):
    for line in requests:
        request = json.loads(line)
        reply = {"id": request.pop("id")}
        try:
            own = (json.dumps(request, ensure_ascii=False) + "\n").encode()
            answer = code.answer(request, own)
        except Exception as error:
            answer = {"failed": explain(error)}
        try:
            text = encode({**reply, **answer})
        except Exception as error:
            # The code has run.
            text = encode({**reply, "unreadable": explain(error)})
        if not code.can_stay():
            text = text[:-1] + b',"last":true}'
        sys.stderr.flush()
        replies.write(text + b"\n")
        replies.flush()


def main(how, form, *what):
    requests, replies = private_pipes()
    code = {"function": Function, "script": Script}[form](*what)
    if how == "serve":
        forbid_reading_memory()
        return serve(code, requests, replies)
    result = code.answer(json.loads(requests.readline()), b"")
    try:
        text = encode(result["data"])
    except Exception as error:
        # The code has run; this is no JSON either.
        text = explain(error).encode(errors="replace")
    replies.write(text + b"\n")
    replies.flush()


main(*sys.argv[1:])
