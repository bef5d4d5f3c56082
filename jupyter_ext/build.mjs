// Bundles the widget and the JupyterLab extension; `--digest` prints what the sources are instead.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);

/** SHA-256 over names and contents of all that the bundles are made of. */
function digest() {
  const sources = readdirSync(join(here, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
  const hash = createHash("sha256");
  for (const file of [...sources, join(here, "build.mjs"), join(root, "package.json")].sort()) {
    const name = relative(root, file).replaceAll("\\", "/");
    hash.update(`${name}\0${readFileSync(file, "utf8").replaceAll("\r\n", "\n")}\0`);
  }
  return hash.digest("hex");
}

/** Style sheets are imported as text, minified. */
function styleText(esbuild) {
  return {
    name: "style-text",
    setup(build) {
      build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
        const minified = await esbuild.transform(readFileSync(path, "utf8"), {
          loader: "css",
          minify: true,
        });
        return { contents: minified.code, loader: "text" };
      });
    },
  };
}

async function build() {
  const esbuild = await import("esbuild");
  const shared = {
    bundle: true,
    charset: "utf8",
    define: { __SOURCES__: JSON.stringify(digest()) },
    format: "esm",
    legalComments: "none",
    minify: true,
    plugins: [styleText(esbuild)],
    target: "es2022",
    logLevel: "warning",
  };
  await esbuild.build({
    ...shared,
    entryPoints: {
      inspector: join(here, "src/widget/index.ts"),
      control_panel: join(here, "src/widget/control_panel.ts"),
    },
    outdir: join(root, "kernel_magics/static"),
  });
  await esbuild.build({
    ...shared,
    entryPoints: [join(here, "src/labextension/index.ts")],
    external: ["@jupyterlab/*", "@lumino/*", "@codemirror/*", "@lezer/*"],
    outfile: join(here, "lib/labextension.js"),
  });
}

if (process.argv.includes("--digest")) {
  process.stdout.write(digest());
} else {
  await build();
}
