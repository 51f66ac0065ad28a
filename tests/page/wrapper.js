// Looks at the pages in the frames as a reader would, and writes what it saw into the document, as JSON.
addEventListener("load", () => {
  console.info("looking at the pages");
  const seen = [...document.querySelectorAll("iframe")].map((frame) => look(frame.contentDocument, frame));
  const result = document.createElement("pre");
  result.id = "result";
  result.textContent = JSON.stringify(seen);
  document.body.append(result);
});

function look(page, frame) {
  const drawings = [...page.querySelectorAll("figure svg")].filter((svg) => svg.getClientRects().length > 0);
  return {
    page: frame.getAttribute("src"),
    width: frame.clientWidth,
    scrolled_width: page.documentElement.scrollWidth,
    figures: [...page.querySelectorAll("figure")].filter((figure) => figure.getClientRects().length > 0).length,
    drawings: drawings.length,
    nameless: drawings.filter((svg) => !named(svg)).map((svg) => svg.outerHTML.slice(0, 200)),
    clipped: drawings.flatMap(clipped),
    overlapping: drawings.flatMap(overlapping),
    scripts: page.scripts.length,
    images: page.images.length,
    sorting: sorting(page.querySelector("table"), frame.dataset.column),
  };
}

// Whether a drawing has the title and the description that it refers to.
function named(svg) {
  const said = (name) => svg.querySelector(`#${svg.getAttribute(name)}`)?.textContent.length > 0;
  return svg.getAttribute("role") === "img" && said("aria-labelledby") && said("aria-describedby");
}

// Texts that reach over the edge of their drawing.
function clipped(svg) {
  const { width, height } = svg.viewBox.baseVal;
  const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent.trim(), text.getBBox()]);
  const outside = ([, box]) => box.x < -1 || box.y < -1 || box.x + box.width > width + 1 || box.y + box.height > height + 1;
  return texts.filter(outside).map(([text]) => text);
}

// Pairs of texts of which one is over the other.
function overlapping(svg) {
  const texts = [...svg.querySelectorAll("text")].map((text) => [text.textContent.trim(), text.getBBox()]);
  const meet = (a, b) =>
    Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x) > 1 &&
    Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y) > 4;
  return texts.flatMap(([one, a], i) => texts.slice(i + 1).filter(([, b]) => meet(a, b)).map(([other]) => `${one} | ${other}`));
}

// What the column holds, and what its head says, before and after each press of its button.
function sorting(table, title) {
  const head = [...table.tHead.rows[0].cells].find((cell) => cell.textContent === title);
  const column = head.cellIndex;
  const state = () => [
    head.getAttribute("aria-sort"),
    [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.value ?? -1)),
  ];
  const states = [state()];
  for (let press = 0; press < 3; press++) {
    head.querySelector("button").click();
    states.push(state());
  }
  return states;
}
