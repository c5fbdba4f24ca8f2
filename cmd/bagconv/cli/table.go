package cli

import (
	"strings"
	"unicode/utf8"
)

// table writes rows in columns, and after each what is not aligned.
func table(rows [][]string, last []string) []string {
	align(rows)
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.Join(row, "  ") + "  " + last[i]
	}
	return lines
}

// align pads the cells of each column to one width: the first column on its
// right, the others on their left.
func align(rows [][]string) {
	if len(rows) == 0 {
		return
	}
	for col := range rows[0] {
		width := 0
		for _, r := range rows {
			width = max(width, utf8.RuneCountInString(r[col]))
		}
		for _, r := range rows {
			pad := strings.Repeat(" ", width-utf8.RuneCountInString(r[col]))
			if col == 0 {
				r[col] += pad
			} else {
				r[col] = pad + r[col]
			}
		}
	}
}
