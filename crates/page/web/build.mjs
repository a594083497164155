// Builds the page into the directory of the first argument: readable, so that a change can be reviewed.

import { build } from "esbuild";
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";

const out = process.argv[2] ?? "../dist";
mkdirSync(out, { recursive: true });
await build({
  entryPoints: { main: "src/main.tsx" },
  bundle: true,
  format: "esm",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  charset: "utf8",
  outdir: out,
  logLevel: "warning",
});
// Nothing bundles the page again, so that marks for it would only be in the way of a reader.
const script = `${out}/main.js`;
writeFileSync(script, readFileSync(script, "utf8").replaceAll("/* @__PURE__ */ ", ""));
const css = [readFileSync("node_modules/uplot/dist/uPlot.min.css", "utf8").trim(), readFileSync("src/theme.css", "utf8")];
writeFileSync(`${out}/main.css`, css.join("\n"));
for (const name of ["index.html", "icon.svg"]) copyFileSync(`static/${name}`, `${out}/${name}`);
const { dependencies } = JSON.parse(readFileSync("package.json", "utf8"));
const all = [...Object.keys(dependencies), "@preact/signals-core"].sort();
const licences = all.map((name) => {
  const { version, license } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, "utf8"));
  const text = readFileSync(`node_modules/${name}/LICENSE`, "utf8").trim();
  return `${name} ${version}, ${license}\n\n${text}\n`;
});
writeFileSync(`${out}/licences.txt`, licences.join("\n----\n\n"));
