// Makes the tables sortable by the buttons it puts into their heads: figures from the highest, texts from the first;
// the other way round on the second press, and as they were on the third. Without it, the tables are read as they are.
for (const table of document.querySelectorAll(".scroll > table")) {
  const body = table.tBodies[0];
  const original = [...body.rows];
  const heads = [...table.tHead.rows[0].cells];

  const key = (row, column) => {
    const cell = row.cells[column];
    return cell.classList.contains("figure") ? cell.dataset.value : cell.textContent;
  };
  const compare = (column, figures, sign) => (one, other) => {
    const [a, b] = [key(one, column), key(other, column)];
    // What has no figure or no text comes last, whichever way.
    const missing = (a ? 0 : 1) - (b ? 0 : 1);
    if (missing || !a) return missing;
    return sign * (figures ? a - b : a.localeCompare(b, "en", { numeric: true }));
  };
  const press = (column) => {
    const figures = heads[column].classList.contains("figure");
    const turns = figures ? ["descending", "ascending"] : ["ascending", "descending"];
    const now = heads[column].getAttribute("aria-sort");
    const next = now ? turns[turns.indexOf(now) + 1] : turns[0];
    heads.forEach((head) => head.removeAttribute("aria-sort"));
    table.classList.toggle("sorted", Boolean(next));
    if (next) heads[column].setAttribute("aria-sort", next);
    const sign = next === "ascending" ? 1 : -1;
    body.append(...(next ? [...original].sort(compare(column, figures, sign)) : original));
  };

  if (original.length < 2) continue;
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => press(column));
    head.append(button);
  });
}
