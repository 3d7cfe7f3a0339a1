"use strict";
// What is shown is kept behind the # of the address, so that it can be sent to someone.
const list = document.getElementById("races");
const races = [...list.children];
const links = new Map([...document.querySelectorAll("#list > li")].map((link, number) => [races[number], link]));
const controls = ["filter", "kind", "sort"].map(name => document.getElementById(name));
const orders = {
  instances: (one, other) => other.dataset.instances - one.dataset.instances,
  place: (one, other) => one.dataset.place.localeCompare(other.dataset.place, "en", { numeric: true }),
  kind: (one, other) => one.dataset.kind.localeCompare(other.dataset.kind, "en"),
};

function show() {
  const [filter, kind, sort] = controls.map(control => control.value);
  const wanted = filter.toLowerCase();
  let count = 0;
  for (const race of races) {
    const fits = !kind || race.dataset.kind === kind;
    race.hidden = !(fits && race.textContent.toLowerCase().includes(wanted));
    links.get(race).hidden = race.hidden;
    count += !race.hidden;
  }
  const sorted = [...races].sort(orders[sort] || orders.instances);
  list.append(...sorted);
  document.getElementById("list").append(...sorted.map(race => links.get(race)));
  document.getElementById("shown").textContent = `${count} of ${races.length} shown`;
}

function read() {
  // A finding of the list leaves the choice as it is.
  if (location.hash.startsWith("#finding-")) return show();
  const state = new URLSearchParams(location.hash.slice(1));
  for (const control of controls) {
    control.value = state.get(control.id) || "";
    if (control.selectedIndex === -1) control.selectedIndex = 0;
  }
  show();
}

function write() {
  const state = new URLSearchParams();
  for (const control of controls) if (control.value) state.set(control.id, control.value);
  history.replaceState(null, "", `#${state}`);
  show();
}

if (races.length) {
  for (const control of controls) control.addEventListener("input", write);
  addEventListener("hashchange", read);
  document.getElementById("controls").hidden = false;
  read();
}
