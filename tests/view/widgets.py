"""Controls of ipywidgets in a page, as a person finds them: by the words beside or on them."""

import json

from tests.view.chromium import Page

TEXT = "document.body.textContent"
LINES = "[...document.querySelectorAll('.fsgreen-lines')].map((pre) => pre.textContent)"


def control(label: str) -> str:
    """The control with a label."""
    return (
        f"[...document.querySelectorAll('.jupyter-widgets label')].find((label) => "
        f"label.textContent === {json.dumps(label)})?.parentElement.querySelector('select, input')"
    )


def button(name: str) -> str:
    """The button of a name."""
    return (
        f"[...document.querySelectorAll('button.jupyter-button')].find((button) => "
        f"button.textContent.trim() === {json.dumps(name)})"
    )


def choose(page: Page, label: str, *levels: str) -> None:
    """Choose these in a list, and nothing else."""
    page.value(
        f"""(() => {{
            const select = {control(label)}, levels = {json.dumps(levels)};
            for (const option of select.options)
                option.selected = levels.includes(option.textContent);
            select.dispatchEvent(new Event('change', {{ bubbles: true }}));
        }})()"""
    )


def type_in(page: Page, label: str, text: str) -> None:
    """Type into a field, and leave it."""
    page.value(
        f"""(() => {{
            const input = {control(label)};
            input.value = {json.dumps(text)};
            for (const kind of ['input', 'change'])
                input.dispatchEvent(new Event(kind, {{ bubbles: true }}));
        }})()"""
    )


def press(page: Page, name: str) -> None:
    """Press a button once it can be pressed."""
    page.wait(f"{button(name)}?.disabled === false")
    page.value(f"{button(name)}.click()")


def chosen(label: str) -> str:
    """What is chosen in a list."""
    return f"[...{control(label)}.selectedOptions].map((option) => option.textContent)"
