// The browser's half of the live view. It draws the newest frame, at most once per repaint, and
// tells the kernel now and then which one that was. uPlot is in scope: its text stands before this one.

const HEIGHT_PX = { power: 240, work: 150 };
const CHANNEL = "fsgreen.view";
const HEADROOM = 0.12; // what the names of the phases take of the height
const GAP_INTERVALS = 1.5; // readings further apart than this leave a gap in the line
const ANSWER_FRAMES = 10; // after so many the kernel hears which one was drawn last
const SETTLE_MS = 250; // how long a new width must last before the kernel hears of it
const SPANS_S = { "10 s": 10, "1 min": 60, "10 min": 600 };
const LOWEST = 0, HIGHEST = 1, FLAGGED = 2; // the layers of a frame

// What uPlot draws of a series: two places a column, lowest then highest. Where there is no value
// the line goes on (undefined), or breaks (null) if readings are missing.
function lineOf(lowest, highest, gap) {
  const values = new Array(2 * lowest.length);
  const ends = []; // the first and last column of each unbroken piece
  let last = -1, count = 0;
  for (let k = 0; k < lowest.length; k++) {
    if (!Number.isFinite(lowest[k])) continue;
    if (last < 0 || k - last > gap) {
      if (last >= 0) {
        values[2 * last + 2] = null;
        ends.push(last);
      }
      ends.push(k);
    }
    values[2 * k] = lowest[k];
    if (highest[k] > lowest[k]) values[2 * k + 1] = highest[k];
    last = k;
    count++;
  }
  if (last >= 0) ends.push(last);
  return { values, dots: dotsOf(values, ends, count) };
}

// Readings that no line would show, and all readings where they are few, get a dot.
function dotsOf(values, ends, count) {
  const dots = [];
  if (count < values.length / 24) {
    values.forEach((value, place) => value == null || dots.push(place));
  } else {
    for (let e = 0; e < ends.length; e += 2) {
      if (ends[e] === ends[e + 1]) dots.push(2 * ends[e]);
    }
  }
  return dots.length ? dots : null;
}

function number(value, digits) {
  if (value == null) return "–";
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

function element(tag, className, parent) {
  const made = document.createElement(tag);
  made.className = className;
  parent.append(made);
  return made;
}

class View {
  constructor(model, el) {
    this.model = model;
    this.meters = model.get("series");
    this.lines = [];
    this.frame = null;
    this.drawn = 0;
    this.answered = 0;
    this.repaint = 0;
    this.build(el);
    this.charts = [this.chart("power"), this.chart("work")];
    this.connect();
    this.observe();
    this.say({ want: true });
  }

  // What is said over a comm of the browser's own is heard while a cell runs, if it has a subshell
  // (JupyterLab 4.4, ipykernel 7); anything else is heard between cells.
  async connect() {
    const kernel = this.model.widget_manager?.kernel;
    if (!kernel?.createComm) return;
    this.comm = kernel.createComm(CHANNEL);
    await this.comm.subshellStarted;
    this.comm.open({ view: this.model.get("channel") });
    this.heard = true;
    this.say({ want: true });
  }

  say(message) {
    if (this.heard && !this.comm.isDisposed) this.comm.send(message);
    else this.model.send(message);
  }

  build(el) {
    this.root = element("div", "fsgreen-live", el);
    this.root.tabIndex = 0;
    this.root.dataset.lmSuppressShortcuts = "true"; // JupyterLab: keys are ours while we have focus
    this.root.title = "drag: zoom; double-click or Escape: back; + - and arrows: zoom and move";
    const head = element("div", "head", this.root);
    this.phase = element("span", "phase", head);
    if (this.model.get("boundary") === "modelled") {
      element("span", "boundary", head).textContent = "modelled power";
    }
    const label = element("label", "span", head);
    label.textContent = "show the last ";
    this.span = element("select", "", label);
    const spans = { ...SPANS_S };
    const own = this.model.get("span_s");
    if (!Object.values(spans).includes(own)) spans[`${own} s`] = own;
    for (const [text, span_s] of Object.entries(spans)) {
      this.span.add(new Option(text, span_s, false, span_s === own));
    }
    this.panels = element("div", "panels", this.root);
    this.status = element("div", "status", this.root);
  }

  colour() {
    return getComputedStyle(this.root).color;
  }

  chart(kind) {
    const power = kind === "power";
    const colour = () => this.colour();
    const axis = {
      stroke: colour,
      grid: { stroke: "#80808040", width: 1 },
      ticks: { stroke: "#80808080", width: 1 },
    };
    const unit = power ? "power, W" : "work, ops/s";
    const drawn = power ? this.meters : [{ name: "work", colour: null, dash: [] }];
    const first = power ? 0 : this.meters.length;
    const value = (u, v, s, idx) =>
      number(idx == null ? this.frame?.about.newest[first + s - 1] : v, power ? 2 : 0);
    const options = {
      width: 600,
      height: HEIGHT_PX[kind],
      scales: {
        x: { time: false },
        y: { range: (u, low, high) => this.range(low, high, power) },
      },
      axes: [
        { ...axis, size: 30, values: (u, splits) => splits.map((split) => `${split} s`) },
        { ...axis, label: unit, labelSize: 20, size: 60 },
      ],
      series: [
        { label: "time", value: (u, v) => (v == null ? "now" : `${v.toFixed(3)} s`) },
        ...drawn.map((series, nth) => ({
          label: power ? `${series.name}, W (${series.boundary})` : unit,
          stroke: series.colour ?? colour,
          dash: series.dash,
          width: 1.25,
          value,
          points: {
            show: () => false,
            filter: () => this.lines[first + nth]?.dots,
            size: 4,
            fill: series.colour ?? colour,
          },
        })),
      ],
      cursor: {
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => this.zoom(null) },
        sync: { key: this.root, setSeries: false, filters: { pub: (type) => type === "mousemove" } },
      },
      hooks: {
        setSelect: [(u) => this.select(u)],
        drawClear: [(u) => this.drawPhases(u, power)],
        draw: power ? [(u) => this.drawFlags(u)] : [],
      },
    };
    return new uPlot(options, [[], ...drawn.map(() => [])], this.panels);
  }

  range(low, high, power) {
    if (low == null) return [0, 1];
    if (!power) return [0, Math.max(1, 1.1 * high)];
    const [bottom, top] = uPlot.rangeNum(low, high, 0.1, true);
    return [bottom, top + HEADROOM * (top - bottom)];
  }

  observe() {
    const { model, root } = this;
    this.onMessage = (about, buffers) => this.receive(about, buffers);
    this.onZoom = () => this.schedule();
    this.onSpan = () => (this.span.value = model.get("span_s"));
    model.on("msg:custom", this.onMessage);
    model.on("change:zoom_s", this.onZoom);
    model.on("change:span_s", this.onSpan);
    this.span.onchange = () => this.tell({ span_s: Number(this.span.value), zoom_s: null });
    root.addEventListener("keydown", (event) => this.press(event));
    this.sizes = new ResizeObserver(() => this.resize());
    this.sizes.observe(root);
    this.themes = new MutationObserver(() => this.schedule());
    this.themes.observe(document.body, { attributeFilter: ["data-jp-theme-name", "class"] });
  }

  close() {
    this.model.off("msg:custom", this.onMessage);
    this.model.off("change:zoom_s", this.onZoom);
    this.model.off("change:span_s", this.onSpan);
    if (this.heard && !this.comm.isDisposed) this.comm.close();
    this.sizes.disconnect();
    this.themes.disconnect();
    clearTimeout(this.settling);
    cancelAnimationFrame(this.repaint);
    this.charts.forEach((chart) => chart.destroy());
  }

  // --- frames ---------------------------------------------------------------------------------

  receive(about, buffers) {
    if (about.fault) {
      this.fault = about.fault;
    } else {
      const bytes = buffers[0];
      const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
      this.frame = { about, data: new Float32Array(data) };
    }
    this.schedule();
  }

  schedule() {
    this.repaint ||= requestAnimationFrame(() => this.draw());
  }

  draw() {
    this.repaint = 0;
    if (this.frame) {
      this.measure();
      this.charts.forEach((chart) => this.redraw(chart));
      const { frame } = this.frame.about;
      if (frame !== this.last) {
        this.last = frame;
        this.root.dataset.frames = ++this.drawn;
        if (frame - this.answered >= ANSWER_FRAMES) {
          this.answered = frame;
          this.say({ drawn: frame });
        }
      }
    }
    this.write();
  }

  measure() {
    const { about, data } = this.frame;
    const count = this.meters.length + 1;
    const columns = data.length / (3 * count);
    const row = (layer, nth) => data.subarray((layer * count + nth) * columns).subarray(0, columns);
    this.times = Array.from({ length: 2 * columns }, (_, place) =>
      about.start_s + (place / 2 + 0.25) * about.width_s);
    this.lines = [...this.meters, { interval_s: Infinity }].map((series, nth) =>
      lineOf(row(LOWEST, nth), row(HIGHEST, nth),
        Math.max(1, Math.ceil((GAP_INTERVALS * series.interval_s) / about.width_s))));
    this.flagged = new Map(); // time of a column, and how many of its readings are flagged
    for (let nth = 0; nth < count; nth++) {
      row(FLAGGED, nth).forEach((flags, k) => {
        const time = this.times[2 * k];
        if (flags) this.flagged.set(time, (this.flagged.get(time) ?? 0) + flags);
      });
    }
  }

  redraw(chart) {
    const { about } = this.frame;
    const power = chart === this.charts[0];
    const lines = power ? this.lines.slice(0, -1) : this.lines.slice(-1);
    if (!power) {
      chart.root.hidden = !lines[0].values.some((value) => value != null);
    }
    const end_s = about.start_s + (this.times.length / 2) * about.width_s;
    const [min, max] = this.model.get("zoom_s") ?? [about.start_s, end_s];
    this.root.dataset.range = `${min} ${max}`;
    chart.batch(() => {
      chart.setData([this.times, ...lines.map((line) => line.values)], false);
      chart.setScale("x", { min, max });
    });
    if (chart.cursor.idx == null) chart.setLegend({ idx: null }, false);
  }

  write() {
    if (this.frame) {
      const { about } = this.frame;
      const phase = about.phases.findLast(([, , end]) => end == null);
      this.phase.textContent = about.ended ? "ended" : phase ? phase[0] : "";
      let count = 0;
      this.flagged.forEach((flags) => (count += flags));
      this.status.textContent = [
        `frame ${about.frame}`,
        `${about.mean_ms.toFixed(2)} ms of kernel time a frame (worst ${about.worst_ms.toFixed(2)})`,
        `${about.skipped} skipped`,
        ...(count ? [`× ${count} readings flagged: ${about.flags.join(", ")}`] : []),
      ].join(" · ");
    }
    if (this.fault) this.status.textContent = this.fault;
  }

  // --- what stands behind and before the lines ---------------------------------------------------

  drawPhases(chart, named) {
    if (!this.frame) return;
    const { ctx, bbox } = chart;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.font = `${12 * devicePixelRatio}px sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "top";
    this.frame.about.phases.forEach(([name, from_s, to_s], nth) => {
      const from = Math.max(bbox.left, chart.valToPos(from_s, "x", true));
      const to = to_s == null ? bbox.left + bbox.width : chart.valToPos(to_s, "x", true);
      ctx.fillStyle = name === "measure" ? "#8080803a" : nth % 2 ? "#8080801c" : "#8080800a";
      ctx.fillRect(from, bbox.top, to - from, bbox.height);
      if (!named || to <= from) return;
      ctx.fillStyle = this.colour();
      ctx.fillText(name, from + 4 * devicePixelRatio, bbox.top + 3 * devicePixelRatio, to - from);
    });
    ctx.restore();
  }

  drawFlags(chart) {
    const { ctx, bbox } = chart;
    const r = 3.5 * devicePixelRatio;
    const y = bbox.top + bbox.height - 2 * r;
    ctx.save();
    ctx.strokeStyle = this.colour();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.beginPath();
    for (const time of this.flagged?.keys() ?? []) {
      const x = chart.valToPos(time, "x", true);
      if (x < bbox.left || x > bbox.left + bbox.width) continue;
      ctx.moveTo(x - r, y - r);
      ctx.lineTo(x + r, y + r);
      ctx.moveTo(x - r, y + r);
      ctx.lineTo(x + r, y - r);
    }
    ctx.stroke();
    ctx.restore();
  }

  // --- what a person does -----------------------------------------------------------------------

  tell(changes) {
    for (const [name, value] of Object.entries(changes)) this.model.set(name, value);
    this.say(changes);
  }

  zoom(range) {
    this.tell({ zoom_s: range });
    this.schedule();
    return null;
  }

  select(chart) {
    const { left, width } = chart.select;
    if (width > 2) this.zoom([chart.posToVal(left, "x"), chart.posToVal(left + width, "x")]);
    chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  press(event) {
    const { x } = this.charts[0].scales;
    const [min, max] = this.model.get("zoom_s") ?? [x.min, x.max]; // what is to be drawn next
    const width = max - min;
    const ranges = {
      Escape: null,
      "+": [min + width / 4, max - width / 4],
      "-": [min - width / 2, max + width / 2],
      ArrowLeft: [min - width / 4, max - width / 4],
      ArrowRight: [min + width / 4, max + width / 4],
    };
    if (!(event.key in ranges) || event.target === this.span) return;
    this.zoom(ranges[event.key]);
    event.preventDefault();
    event.stopPropagation();
  }

  resize() {
    const width = Math.floor(this.panels.clientWidth);
    if (!width) return;
    this.charts.forEach((chart) =>
      chart.setSize({ width, height: HEIGHT_PX[chart === this.charts[0] ? "power" : "work"] }));
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      const columns = Math.round(this.charts[0].bbox.width); // of the screen's own pixels
      this.tell({ columns: Math.min(4000, Math.max(50, columns)) });
    }, SETTLE_MS);
  }
}

export default {
  render({ model, el }) {
    const view = new View(model, el);
    return () => view.close();
  },
};
