// Searches the index, a script beside this one: pages that were opened from disk cannot read other files.
"use strict"
const root = document.body.dataset.root
const field = document.getElementById("search")
const list = document.getElementById("results")
const page = document.querySelector("article")
let entries = null

// Called by index.js with [title, URL, page or module, text] of each section and symbol.
function searchIndex(found) {
  entries = found.map(([title, url, where, text]) => ({ title, url, where, text, key: title.toLowerCase(), body: text.toLowerCase() }))
  show()
}

function load() {
  if (document.getElementById("index")) return
  const script = document.createElement("script")
  script.id = "index"
  script.src = root + "resources/index.js"
  document.head.append(script)
}

// A word counts most in a title, and more at its beginning; an entry has to have all words.
function score(entry, words) {
  let sum = 0
  for (const word of words) {
    const place = entry.key.indexOf(word)
    if (entry.key === word) sum += 100
    else if (place === 0) sum += 50
    else if (place > 0) sum += /\w/.test(entry.key[place - 1]) ? 15 : 30
    else if (entry.body.includes(word)) sum += 5
    else return 0
  }
  // Prose explains, a type comes before its members, and a short title is nearer to the words.
  return sum + (entry.url.includes("#") && entry.url.includes("/reference/") ? 0 : 12) - entry.title.length / 50
}

function marked(text, words) {
  const line = document.createElement("p")
  const first = Math.min(...words.map(word => text.toLowerCase().indexOf(word)).filter(place => place >= 0), text.length)
  const start = Math.max(0, first === text.length ? 0 : first - 60)
  const shown = (start > 0 ? "…" : "") + text.slice(start, start + 220)
  const pattern = new RegExp(words.map(word => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|"), "gi")
  let end = 0
  for (const match of shown.matchAll(pattern)) {
    const mark = document.createElement("mark")
    mark.textContent = match[0]
    line.append(shown.slice(end, match.index), mark)
    end = match.index + match[0].length
  }
  line.append(shown.slice(end))
  return line
}

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
  list.hidden = words.length === 0
  page.hidden = !list.hidden
  if (!entries || list.hidden) return
  const found = entries.map(entry => [score(entry, words), entry]).filter(([points]) => points > 0)
  found.sort((one, other) => other[0] - one[0])
  list.replaceChildren(...found.slice(0, 40).map(([, entry]) => {
    const item = document.createElement("li")
    const link = document.createElement("a")
    link.href = root + entry.url
    link.textContent = entry.title
    link.addEventListener("click", () => { field.value = ""; show() })
    const where = document.createElement("span")
    where.className = "where"
    where.textContent = entry.where ? " – " + entry.where : ""
    item.append(link, where, marked(entry.text, words))
    return item
  }))
  if (found.length === 0) {
    const item = document.createElement("li")
    item.textContent = "Nothing has all of these words."
    list.append(item)
  }
}

field.addEventListener("focus", load)
field.addEventListener("input", () => { load(); show() })
field.addEventListener("keydown", event => { if (event.key === "Escape") { field.value = ""; show() } })
document.addEventListener("keydown", event => {
  if (event.key === "/" && document.activeElement !== field) { event.preventDefault(); field.focus() }
})
// A link may bring words: index.html?q=prefetch.
const asked = new URLSearchParams(location.search).get("q")
if (asked) { field.value = asked; load() }
