"""One line for each requirement of `cargo xtask long history`: the result, the limit, and the verdict."""

class Verdicts:
    """Lines of the table; with a file they are appended to it, for the caller that prints all of them."""

    def __init__(self, path=None):
        self.path, self.missed = path, []

    def add(self, question, cold, warm, limit, is_met, unit="ms"):
        number = lambda value: "" if value is None else f"{value:,.1f} {unit}".strip()
        line = f"{question:44}{number(cold):>12}{number(warm):>12}{number(limit):>14}  {'yes' if is_met else 'NO'}"
        if not is_met:
            self.missed.append(question)
        if self.path:
            with open(self.path, "a") as file:
                file.write(line + "\n")
