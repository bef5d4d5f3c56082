// Bundles the widget and the JupyterLab extension; `--digest` prints what the sources are instead.
import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

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

/**
 * A module that unpacks another one: each widget carries its code in a message of the notebook,
 * and packed it is a third of it. Names what it was made of, so that a test can tell.
 */
function packed(code, sources) {
  const text = gzipSync(code, { level: 9 }).toString("base64");
  return `// ${sources}
export default async () => {
  const bytes = Uint8Array.from(atob("${text}"), (letter) => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const code = await new Response(plain).blob();
  const url = URL.createObjectURL(new Blob([code], { type: "text/javascript" }));
  try {
    return (await import(/* @vite-ignore */ url)).default;
  } finally {
    URL.revokeObjectURL(url);
  }
};
`;
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
  const { outputFiles } = await esbuild.build({
    ...shared,
    write: false,
    entryPoints: {
      inspector: join(here, "src/widget/index.ts"),
      control_panel: join(here, "src/widget/control_panel.ts"),
    },
    outdir: join(root, "kernel_magics/static"),
  });
  mkdirSync(join(root, "kernel_magics/static"), { recursive: true });
  for (const { path, text } of outputFiles) {
    writeFileSync(join(root, "kernel_magics/static", basename(path)), packed(text, digest()));
  }
  await esbuild.build({
    ...shared,
    entryPoints: [join(here, "src/standalone/index.ts")],
    format: "iife",
    outfile: join(root, "kernel_magics/static/standalone.js"),
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
