package cli

import "strings"

// batchHelp is the help of bagconv batch. The flags that it shares with convert
// are explained by the same text, but for those that name one output.
var batchHelp = `bagconv batch [FLAGS] -O OUT/ IN...

Converts every recording that it finds into a tree below OUT that mirrors where
the inputs lie. IN is a folder (with all folders below it), a recording, a glob
in quotes, or @FILE, a list of those. What belongs together is one input:
several files of one recording, or a folder that is one. A file that cannot be
read does not stop the others. Names that begin with a dot, and links to
folders, are passed over.

The manifest has a line of JSON for each finished input: size, time, output,
counts, what is lost, error. After an end before time, --resume goes on: what
the manifest says is done is skipped, if input, output and flags are as they
were. What failed is tried again.

BATCH
  -O, --output-dir OUT  the folder for the outputs; it is made
  --to FORMAT           {formats}; {folder} if there is no --to
  -j, --jobs N          conversions at a time; 0 (default) is one per two cores
  --include-from FILE   a list, as @FILE: an input per line; # begins a comment
  --base DIR            outputs mirror what lies below DIR; by default, below
                        each folder that is named, and below the folder that all
                        named files have in common
  --manifest FILE       instead of OUT/manifest.jsonl
  --resume              skip what is done
  --checksum            write the SHA-256 of each input into the manifest, and
                        with --resume compare it, not the time of the file
  --dry-run             list what would be done, and write nothing
  -f, --force           replace outputs that exist; without --resume, also begin
                        the manifest anew

` + selectHelp + editHelp + batchOutputHelp + strictHelp + batchRunHelp + `EXAMPLES
  bagconv batch -O converted/ drives/
  bagconv batch -O converted/ drives/ --resume -j 4 --verify content
  bagconv batch -O bags/ --to bag --compression lz4 'drives/*/camera_*'
  bagconv batch -O out/ @tonight.txt --dry-run
  jq -r 'select(.status == "failed") | .error' converted/manifest.jsonl

EXIT STATUS
  0    all are written, nothing is lost but what the format has no place for
  1    the batch could not be run, or found no recording
  2    the command line is wrong
  3    all are written, but something is damaged or lost
  5    some failed; the others are written
  130  interrupted; what is finished stays
`

// batchOutputHelp is outputHelp without what batch explains itself.
var batchOutputHelp = "OUTPUTS\n" + outputHelp[strings.Index(outputHelp, "{options}"):]

// batchRunHelp is runHelp, with what is said of all conversions.
var batchRunHelp = strings.NewReplacer(
	`  --threads N           workers, 256 at most; 0 (default) is one per core, up
                        to one for each 20M of --max-memory. The output is the
                        same for any number
`, `  --threads N           workers of each, 256 at most; 0 (default) shares the
                        cores out
`,
	`what buffers may take together, 64M or more (default
                        256M); a message that is larger is converted anyway
`, `what the buffers of all may take together, 64M or more
                        for each (default 256M); a message that is larger is
                        converted anyway
`,
	"what became of each topic as JSON", "the summary as JSON",
	"no progress and no summary; losses are still said", `no progress and no summary; what failed and what is
                        lossy is still said`,
	"also say what is not carried by design", "also a line for each that went well",
).Replace(runHelp)
