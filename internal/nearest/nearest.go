// Package nearest finds the word that somebody may have meant, for the hints of errors. It refuses nothing: words that
// are too long to be mistyped have no neighbour. All of it may be used concurrently.
//
//	nearest.Meant(nearest.Word("stam", fields), "it has "+nearest.Some(fields, 8)) // did you mean stamp?
package nearest

import (
	"fmt"
	"slices"
	"strings"
)

// Word returns the word that is closest to a mistyped one, "" when none is
// close. Equally close words are taken in alphabetical order.
func Word(typed string, words []string) string {
	const longest = 200 // longer ones are not typos, and slow to compare
	best, bestDistance := "", max(len(typed)/3, 1)+1
	for _, w := range slices.Sorted(slices.Values(words)) {
		if len(typed) > longest || len(w) > longest {
			continue
		}
		if d := Distance(typed, w); d < bestDistance {
			best, bestDistance = w, d
		}
	}
	return best
}

// Suggest returns the word that somebody may have meant: the nearest one, else the
// shortest that contains what was typed, whatever its case; "" if no word does.
func Suggest(typed string, words []string) string {
	if near := Word(typed, words); near != "" {
		return near
	}
	if typed = strings.Trim(typed, "/"); len(typed) < 2 {
		return ""
	}
	best := ""
	for _, w := range slices.Sorted(slices.Values(words)) {
		if strings.Contains(strings.ToLower(w), strings.ToLower(typed)) && (best == "" || len(w) < len(best)) {
			best = w
		}
	}
	return best
}

// Meant returns a hint that names the word near, which the user may have meant. If near is "", it returns otherwise.
func Meant(near, otherwise string) string {
	if near == "" {
		return otherwise
	}
	return "did you mean " + near + "?"
}

// Distance counts the characters to insert, delete, replace or swap with their
// neighbour to get from a to b.
func Distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}

// Some names the first of several words, and counts the others.
func Some(words []string, first int) string {
	if n := len(words) - first; n > 0 {
		return strings.Join(words[:first], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(words, ", ")
}
