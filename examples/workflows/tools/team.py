"""What the example workflows work on: the notes of a team, a table of orders, and a travel agency."""

import csv
import io
from pathlib import Path

NOTES = Path(__file__).parent / "notes"

# Tickets that are sold out, so that a booking fails.
SOLD_OUT = {"return flight"}


def list_notes(input):
    files = sorted(NOTES.glob("*.txt"))
    return {"notes": [{"name": file.name, "text": file.read_text()} for file in files]}


def publish(input):
    return {"published": input["title"], "lines": len(input["lines"])}


def read_orders(input):
    rows = list(csv.DictReader(io.StringIO(input["text"])))
    faulty = [row for row in rows if not (row.get("amount") or "").strip().isdigit()]
    return {"orders": [row for row in rows if row not in faulty], "faulty": faulty}


def total(input):
    amounts = [int(order["amount"]) for order in input["orders"]]
    return {"count": len(amounts), "total": sum(amounts)}


def explain(input):
    reason = "no amount" if not (input["order"].get("amount") or "").strip() else "not a number"
    return {"id": input["order"]["id"], "reason": reason}


def reserve(input):
    if input["what"] in SOLD_OUT:
        raise ValueError(f"{input['what']} is sold out")
    return {"reservation": f"{input['traveller']}/{input['what']}".replace(" ", "-")}


def cancel(input):
    return {"cancelled": input["reservation"]}
