package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"text/template"
)

// formula is the Ruby that Homebrew installs by; its URLs lead to a release on the
// repository's page. Homebrew takes off the one folder that an archive has.
var formula = template.Must(template.New("").Parse(`class Bagconv < Formula
  desc "{{.Summary}}"
  homepage "{{.Home}}"
  version "{{.Version}}"
{{range .Systems}}
  on_{{.Name}} do
{{- range .Archives}}
    on_{{.CPU}} do
      url "{{$.Home}}/releases/download/v{{$.Version}}/{{.File}}"
      sha256 "{{.Sum}}"
    end
{{- end}}
  end
{{end}}
  def install
    bin.install "bagconv"
    man1.install "man/bagconv.1"
    bash_completion.install "completions/bagconv.bash" => "bagconv"
    zsh_completion.install "completions/bagconv.zsh" => "_bagconv"
    fish_completion.install "completions/bagconv.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/bagconv version")
  end
end
`))

type (
	formulaSystem struct {
		Name     string // macos or linux
		Archives []formulaArchive
	}
	formulaArchive struct{ CPU, File, Sum string }
)

// writeFormula writes a Homebrew formula for the archives that a file of checksums lists.
func writeFormula(w io.Writer, version, sums string) error {
	list, err := os.Open(sums)
	if err != nil {
		return err
	}
	defer list.Close()
	sum := map[string]string{} // by name
	for lines := bufio.NewScanner(list); lines.Scan(); {
		if hex, name, ok := strings.Cut(lines.Text(), "  "); ok {
			sum[name] = hex
		}
	}
	var systems []formulaSystem
	for _, s := range []struct{ name, goos string }{{"macos", "darwin"}, {"linux", "linux"}} {
		system := formulaSystem{Name: s.name}
		for _, c := range []struct{ name, goarch string }{{"arm", "arm64"}, {"intel", "amd64"}} {
			file := fmt.Sprintf("bagconv_%s_%s_%s.tar.gz", version, s.goos, c.goarch)
			if sum[file] != "" {
				system.Archives = append(system.Archives, formulaArchive{c.name, file, sum[file]})
			}
		}
		if system.Archives != nil {
			systems = append(systems, system)
		}
	}
	if systems == nil {
		return fmt.Errorf("%s has no archive of version %s for macOS or Linux", sums, version)
	}
	return formula.Execute(w, map[string]any{"Summary": summary, "Home": home, "Version": version, "Systems": systems})
}
