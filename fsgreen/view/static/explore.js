// The browser's half of a chart of the explorer: draws what Python describes as SVG, and says which
// part a person chose. Colours of text and frames are those of the page, so that any theme will do.

const SVG = "http://www.w3.org/2000/svg";
const ROW_PX = 26, PANEL_PX = 150, GAP_PX = 30, AXIS_PX = 42, LETTER_PX = 6.8, PAD_PX = 10;

function make(tag, attributes, parent, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

function scale([low, high], [from, to], log) {
  const f = log ? Math.log : (value) => value;
  const a = f(low), factor = (to - from) / (f(high) - f(low) || 1);
  return (value) => from + (f(value) - a) * factor;
}

class Chart {
  constructor(model, el) {
    this.model = model;
    this.root = document.createElement("div");
    this.root.className = "fsgreen-chart";
    this.root.dataset.lmSuppressShortcuts = "true"; // JupyterLab: keys are ours while we have focus
    el.append(this.root);
    this.draws = 0;
    this.draw = () => this.redraw();
    model.on("change:chart change:chosen", this.draw);
    this.root.addEventListener("keydown", (event) => this.press(event));
    this.sizes = new ResizeObserver(() => {
      if (Math.abs(this.root.clientWidth - this.width) > 1) this.redraw();
    });
    this.redraw();
    this.sizes.observe(this.root);
  }

  close() {
    this.model.off("change:chart change:chosen", this.draw);
    this.sizes.disconnect();
  }

  redraw() {
    const chart = this.model.get("chart");
    const had = this.root.contains(document.activeElement) ? document.activeElement?.dataset.nth : null;
    this.width = this.root.clientWidth || 700;
    this.items = [];
    this.svg = make("svg", { width: this.width, "aria-label": this.model.get("about") });
    this.svg.setAttribute("role", chart.picks ? "group" : "img");
    if (chart.kind === "rows") this.drawRows(chart);
    else if (chart.kind === "panels") this.drawPanels(chart);
    this.root.replaceChildren(this.svg);
    this.items.forEach((item, nth) => (item.tabIndex = nth === Number(had ?? 0) ? 0 : -1));
    if (had != null) this.items[Number(had)]?.focus();
    this.root.dataset.draws = ++this.draws;
    this.root.dataset.revision = this.model.get("revision");
  }

  height(value) {
    this.svg.setAttribute("height", value);
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${value}`);
  }

  text(x, y, words, more = {}) {
    return make("text", { x, y, ...more }, this.svg, words);
  }

  axis(chart, x, top, bottom, left) {
    for (const [value, label] of chart.ticks) {
      make("line", { x1: x(value), x2: x(value), y1: top, y2: bottom, class: "grid" }, this.svg);
      this.text(x(value), bottom + 15, label, { class: "tick", "text-anchor": "middle" });
    }
    this.text(left, bottom + 33, chart.axis, { class: "axis" });
  }

  mark(words, right, y) {
    if (words) this.text(right, y, words, { class: "mark", "text-anchor": "end" });
  }

  // What can be chosen is a button: Tab leads to it, arrows to the next, Enter chooses.
  item(group, about) {
    const nth = this.items.length;
    const chosen = this.model.get("chosen");
    group.setAttribute("role", "button");
    group.setAttribute("aria-label", about);
    group.setAttribute("aria-pressed", chosen.includes(nth));
    group.classList.add("item");
    group.dataset.nth = nth;
    make("title", {}, group, about);
    group.addEventListener("click", (event) => this.choose(nth, event.shiftKey));
    this.items.push(group);
    return ["A", "B"].filter((_, place) => chosen[place] === nth).join("");
  }

  choose(nth, second) {
    this.focus(nth);
    this.model.send({ chose: nth, second });
  }

  focus(nth) {
    this.items.forEach((item, place) => (item.tabIndex = place === nth ? 0 : -1));
    this.items[nth]?.focus();
  }

  press(event) {
    const at = this.items.indexOf(document.activeElement);
    if (at < 0) return;
    const last = this.items.length - 1;
    const to = {
      ArrowDown: Math.min(last, at + 1), ArrowRight: Math.min(last, at + 1),
      ArrowUp: Math.max(0, at - 1), ArrowLeft: Math.max(0, at - 1), Home: 0, End: last,
    }[event.key];
    if (to !== undefined) this.focus(to);
    else if (event.key === "Enter" || event.key === " ") this.choose(at, event.shiftKey);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  // --- rows ---------------------------------------------------------------------------------------

  drawRows(chart) {
    const longest = (name) => Math.max(0, ...chart.rows.map((row) => row[name].length)) * LETTER_PX;
    const room = 0.36 * this.width;
    const left = Math.min(room, longest("name")) + PAD_PX + 18;
    const right = this.width - Math.min(room, longest("says")) - PAD_PX;
    const top = 16, bottom = top + ROW_PX * chart.rows.length;
    const x = scale(chart.span, [left, right], !chart.bars);
    const inside = (value) => x(Math.min(chart.span[1], Math.max(chart.span[0], value)));
    this.axis(chart, x, top, bottom, left);
    if (!chart.bars) {
      make("line", { x1: x(1), x2: x(1), y1: top, y2: bottom, class: "frame" }, this.svg);
    }
    chart.rows.forEach((row, nth) => {
      const middle = top + (nth + 0.5) * ROW_PX;
      const group = make("g", { class: "row" }, this.svg);
      make("rect", { x: 0, y: middle - ROW_PX / 2, width: this.width, height: ROW_PX, class: "hit" }, group);
      const letters = chart.picks ? this.item(group, row.about) : "";
      if (!chart.picks) make("title", {}, group, row.about);
      make("text", { x: 2, y: middle + 4, class: "letter" }, group, letters);
      this.named(group, row.name, left - 6, middle, left - 24);
      make("text", { x: right + 8, y: middle + 4, class: "says" }, group, row.says);
      if (row.band) {
        const [from, to] = row.band.map((end) => inside(end ?? chart.span[1]));
        make("rect", { x: from, y: middle - ROW_PX / 2, width: to - from, height: ROW_PX, class: "band" }, group);
      }
      if (row.value === null) return;
      if (chart.bars) {
        const wide = Math.max(0, inside(row.value) - left);
        make("rect", { x: left, y: middle - 8, width: wide, height: 16, fill: row.colour, class: "bar" }, group);
      }
      if (row.low !== null && row.high !== null) {
        const [from, to] = [inside(row.low), inside(row.high)];
        for (const kind of ["halo", "whisker"]) {
          const d = `M${from},${middle}H${to}M${from},${middle - 4}V${middle + 4}M${to},${middle - 4}V${middle + 4}`;
          make("path", { d, class: kind }, group);
        }
      }
      if (!chart.bars) {
        const fill = row.filled ? row.colour : "var(--jp-layout-color0, white)";
        make("circle", { cx: inside(row.value), cy: middle, r: 5, fill, stroke: row.colour, class: "point" }, group);
      }
    });
    this.mark(chart.mark, this.width - 4, 11);
    this.height(bottom + AXIS_PX);
  }

  named(group, words, x, y, most) {
    const fits = Math.floor(most / LETTER_PX);
    const short = words.length > fits ? `${words.slice(0, fits - 1)}…` : words;
    make("text", { x, y: y + 4, "text-anchor": "end", class: "name" }, group, short);
  }

  // --- panels -------------------------------------------------------------------------------------

  drawPanels(chart) {
    const labels = chart.panels.flatMap((panel) => panel.ticks.map(([, label]) => label.length));
    const left = 14 + LETTER_PX * Math.max(4, ...labels), right = this.width - PAD_PX;
    const x = scale(chart.span, [left, right], chart.log);
    let top = chart.phases.length ? 34 : 20;
    const begin = top, end = begin + chart.panels.length * (PANEL_PX + GAP_PX) - GAP_PX;
    this.axis(chart, x, begin, end, left);
    chart.panels.forEach((panel) => {
      const bottom = top + PANEL_PX;
      const y = scale(panel.span, [bottom, top], false);
      this.shadePhases(chart, x, top, bottom, left, right, top === begin);
      for (const [value, label] of panel.ticks) {
        make("line", { x1: left, x2: right, y1: y(value), y2: y(value), class: "grid" }, this.svg);
        this.text(left - 6, y(value) + 4, label, { class: "tick", "text-anchor": "end" });
      }
      make("path", { d: `M${left},${top}V${bottom}H${right}`, class: "frame" }, this.svg);
      this.legend(panel, left, right, top - (top === begin && chart.phases.length ? 21 : 7));
      panel.lines.forEach((line) => this.series(line, x, y, chart.picks));
      this.mark(panel.mark, right, top + 12);
      top = bottom + GAP_PX;
    });
    this.height(end + AXIS_PX);
  }

  shadePhases(chart, x, top, bottom, left, right, named) {
    let free = left;
    chart.phases.forEach(([name, from_s, to_s], nth) => {
      const from = x(from_s), width = Math.max(0, x(to_s) - from);
      const kind = name === "measure" ? "phase measured" : `phase ${nth % 2 ? "odd" : "even"}`;
      make("rect", { x: from, y: top, width, height: bottom - top, class: kind }, this.svg);
      if (!named || from < free || from + name.length * LETTER_PX > right + PAD_PX) return;
      this.text(from + 2, top - 5, name, { class: "tick" });
      free = from + name.length * LETTER_PX + 6;
    });
  }

  legend(panel, left, right, y) {
    let x = this.text(left, y, panel.axis, { class: "axis" }) && left + panel.axis.length * LETTER_PX + 16;
    for (const line of panel.lines) {
      if (!line.name || x > right - 40) continue;
      const style = { stroke: line.colour, "stroke-dasharray": line.dash.join(" "), class: "line" };
      make("path", { d: `M${x},${y - 4}h22`, ...style }, this.svg);
      this.text(x + 26, y, line.name, { class: "tick" });
      x += 26 + line.name.length * LETTER_PX + 14;
    }
  }

  series(line, x, y, picks) {
    if (line.kind === "dots") {
      line.x.forEach((at, nth) => {
        if (line.y[nth] === null) return;
        const group = make("g", { class: "dot" }, this.svg);
        const letters = picks ? this.item(group, line.about[nth]) : "";
        const place = { cx: x(at), cy: y(line.y[nth]) };
        make("circle", { ...place, r: 10, class: "hit" }, group);
        make("circle", { ...place, r: letters ? 7 : 5, fill: line.colour, class: letters ? "point chosen" : "point" }, group);
      });
      return;
    }
    let d = "", drawn = false;
    line.x.forEach((at, nth) => {
      const value = line.y[nth];
      if (value === null) return (drawn = false);
      if (!drawn) d += `M${x(at)},${y(value)}`;
      else if (line.kind === "steps") d += `H${x(at)}V${y(value)}`;
      else d += `L${x(at)},${y(value)}`;
      drawn = true;
    });
    const style = { stroke: line.colour, "stroke-dasharray": line.dash.join(" "), class: "line" };
    if (d) make("path", { d, ...style }, this.svg);
  }
}

export default {
  render({ model, el }) {
    const chart = new Chart(model, el);
    return () => chart.close();
  },
};
