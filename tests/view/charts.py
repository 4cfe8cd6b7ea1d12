"""Charts of the explorer in a page: where they are, what they say, and a click on them."""

import time

CHART = "[...document.querySelectorAll('.fsgreen-chart')]"
CELLS, TRIALS, TRIAL = (f"{CHART}[{nth}]" for nth in range(3))
SAYS = "[...document.querySelectorAll('.fsgreen-says')].map((p) => p.textContent)"


def items(chart):
    """What a screen reader reads of the rows or dots of a chart."""
    return f"[...{chart}.querySelectorAll('.item')].map((i) => i.getAttribute('aria-label'))"


def click(page, element):
    """Press and release the mouse in the middle of an element, once the page stands still."""
    middle = f"""(() => {{
        const box = {element}.getBoundingClientRect();
        return [box.left + box.width / 2, box.top + box.height / 2];
    }})()"""
    page.value(f"{element}.scrollIntoView({{ block: 'center' }})")
    before = None
    while (place := page.value(middle)) != before:
        before = place
        time.sleep(0.3)
    page.mouse("mouseMoved", *place)
    page.mouse("mousePressed", *place)
    page.mouse("mouseReleased", *place)
