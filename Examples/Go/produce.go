// Publishes the JSON lines of standard input as one segment, with Go's standard library alone: SPOOL=folder go run produce.go
//
// When it ends with 0 the segment is on the disk, whole, and counts after a power cut. When it ends in any other way there is no segment, but perhaps
// a hidden file, which is never sent. It checks no line: ferry verify does.
package main

import (
	"compress/gzip"
	"crypto/rand"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"time"
)

func main() {
	if err := publish(os.Stdin, os.Getenv("SPOOL")); err != nil {
		log.Fatal(err)
	}
}

func publish(lines io.Reader, spool string) error {
	random := make([]byte, 16)
	if _, err := rand.Read(random); err != nil {
		return err
	}
	id := ""
	for _, byte := range random {
		id += string("0123456789abcdefghijklmnopqrstuv"[byte%32])
	}
	// The point before the milliseconds is part of the format; Go rounds down.
	name := fmt.Sprintf("5-%s-%s.jsonl.gz", time.Now().UTC().Format("20060102T150405.000Z"), id)
	hidden := filepath.Join(spool, "."+name+".ferry-tmp")
	file, err := os.OpenFile(hidden, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0600)
	if err != nil {
		return err
	}
	defer file.Close()
	compressed := gzip.NewWriter(file)
	if _, err := io.Copy(compressed, lines); err != nil {
		return err
	}
	if err := compressed.Close(); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := os.Rename(hidden, filepath.Join(spool, name)); err != nil {
		return err
	}
	folder, err := os.Open(spool)
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}
